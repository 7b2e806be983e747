import AppInterface
import Foundation
import HTTPTypes
import Screens
import Settings
import Upstream

/// The upstreams that have an address.
struct ConfiguredUpstreams: Sendable {
    /// Their configurations by name.
    private(set) var byName: [String: UpstreamConfiguration] = [:]
    /// Upstreams that no app uses, with the name of one that an app uses and that is nearly the same.
    private(set) var lookalikes: [String: String] = [:]
    /// Upstreams that the sandbox simulates once its address is known.
    private var simulated: [String: UpstreamDescription] = [:]
    private let settings: SettingValues

    /// Reads the settings of all upstreams.
    /// - Parameters:
    ///   - described: the upstreams of apps
    ///   - further: names of upstreams that no app uses
    ///   - sandbox: whether an upstream whose address is not set waits for ``simulate(_:at:)``
    /// - Throws: `SettingError` if an upstream that no app uses has no address.
    init(
        _ settings: SettingValues,
        described: [UpstreamDescription],
        further: [String],
        sandbox: Bool
    ) throws(SettingError) {
        self.settings = settings
        for upstream in described {
            let key = "upstreams.\(upstream.name).url"
            if sandbox, !settings.isSet(key) {
                simulated[upstream.name] = upstream
            } else if let url = try settings.url(key) {
                byName[upstream.name] = try UpstreamConfiguration(upstream, at: url, settings)
            }
        }
        for name in further {
            lookalikes[name] = NameSuggestions(for: name, among: described.map(\.name)).names.first
            let key = "upstreams.\(name).url"
            guard let url = try settings.url(key) else {
                let accepted = Setting(key, .url, default: "", "").accepted
                throw .unacceptable(key: key, value: "", source: "settings of upstream \(name)", accepted: accepted)
            }
            byName[name] = try UpstreamConfiguration(
                UpstreamDescription(name, title: name, url: nil),
                at: url,
                settings
            )
        }
    }

    /// Gives a simulated upstream its address, and has its mount pass on the sandbox's own request field. One whose
    /// address is set is not simulated.
    /// - Throws: `SettingError` if the upstream's settings were not declared.
    mutating func simulate(_ name: String, at url: URL) throws(SettingError) {
        guard let upstream = simulated[name] else { return }
        var configuration = try UpstreamConfiguration(upstream, at: url, settings)
        configuration.isSimulated = true
        configuration.mount.requestFields.append(RequestField(.sandboxFault, isKey: false))
        byName[name] = configuration
    }
}
