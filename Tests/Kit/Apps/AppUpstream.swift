import Foundation
package import Screens
package import Upstream

/// An upstream of an app, as its tests have it: at another address, with a scripted network.
package struct AppUpstream: Sendable {
    let description: UpstreamDescription
    let url: String
    let transport: any Transport
    let adjust: @Sendable (inout UpstreamConfiguration) -> Void

    /// Describes an upstream.
    ///
    /// - Parameters:
    ///   - description: the app's own description of it.
    ///   - url: where its API begins.
    ///   - transport: its network.
    ///   - adjust: changes its configuration.
    package init(
        _ description: UpstreamDescription,
        at url: String,
        _ transport: any Transport,
        _ adjust: @escaping @Sendable (inout UpstreamConfiguration) -> Void = { _ in }
    ) {
        self.description = description
        self.url = url
        self.transport = transport
        self.adjust = adjust
    }

    /// The configuration by the app's description. No hosts but the base URL's are allowed.
    var configuration: UpstreamConfiguration {
        get throws {
            guard let url = URL(string: url) else { throw URLError(.badURL) }
            var configuration = UpstreamConfiguration(name: description.name, title: description.title, baseURL: url)
            configuration.followsPublicLinks = description.trustedHosts != nil
            configuration.hasSessions = description.hasSessions
            configuration.probePath = description.probePath
            configuration.mount.shared = description.isShared
            if !description.storesBodies(isShared: description.isShared) { configuration.mount.maximumStoredBytes = 0 }
            configuration.mount.leadsBack = description.leadsBack
            adjust(&configuration)
            return configuration
        }
    }
}
