/// An upstream as the app that uses it describes it: its address, its probe, and how its API is mounted. Operators may
/// change much of it by the settings `upstreams.{name}.*`, whose defaults these values are.
package struct UpstreamDescription: Sendable, Equatable {
    /// Name in settings, `/v1/status`, problems and the path of its mount.
    package let name: String
    /// Name for people.
    package let title: String
    /// Base URL of its API; nil if there is no public one.
    package let url: String?
    /// Path that probes request, below the URL.
    package let probePath: String
    /// Hosts other than the URL's that its links and redirects may lead to.
    package let allowedHosts: [String]
    /// Key of the app's setting that lists hosts which links and redirects may lead to whatever their addresses. If it
    /// is set, they may also lead to any public host: for upstreams whose data names arbitrary hosts.
    package let trustedHostsSetting: String?
    /// Whether the app can work without it.
    package let isOptional: Bool
    /// Whether Larder logs in there for its accounts: then its 401 is the end of a session.
    package let hasSessions: Bool
    /// Whether it limits requests by account, so that its 429 is about one account only.
    package let limitsByCredential: Bool
    /// Whether its mount responds to all clients alike. If not, credentials are passed on and everything is stored per
    /// credential.
    package let isShared: Bool
    /// Whether its mount stores bodies. It does not if they hold links or tokens that open files to every holder.
    package let storesBodies: Bool

    /// Describes an upstream.
    package init(
        _ name: String,
        title: String,
        url: String?,
        probePath: String = "/",
        allowedHosts: [String] = [],
        trustedHostsSetting: String? = nil,
        isOptional: Bool = false,
        hasSessions: Bool = false,
        limitsByCredential: Bool = false,
        isShared: Bool = true,
        storesBodies: Bool = true
    ) {
        self.name = name
        self.title = title
        self.url = url
        self.probePath = probePath
        self.allowedHosts = allowedHosts
        self.trustedHostsSetting = trustedHostsSetting
        self.isOptional = isOptional
        self.hasSessions = hasSessions
        self.limitsByCredential = limitsByCredential
        self.isShared = isShared
        self.storesBodies = storesBodies
    }
}
