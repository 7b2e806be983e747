public import Foundation

/// The settings `upstreams.{name}.*` of one upstream.
public struct UpstreamConfiguration: Sendable, Equatable {
    /// Its name in settings, `/v1/status` and problems, such as `spacex`.
    public var name: String
    /// Its name for people, such as `SpaceX`.
    public var title: String
    /// Base URL of its API, without a trailing slash.
    public var baseURL: URL
    /// Longest wait for a connection.
    public var connectTimeout: Duration
    /// Longest wait for a whole response, retries included.
    public var totalTimeout: Duration
    /// How long a client waits before it gets the stored copy instead.
    public var patience: Duration
    /// First pause between probes of an unreachable upstream; later pauses grow.
    public var probeInterval: Duration
    /// Hosts other than the base URL's that its links and redirects may lead to.
    public var allowedHosts: [String]
    /// Whether links and redirects may also lead to any public host by http or https at its usual port: for upstreams
    /// whose data names arbitrary hosts.
    public var followsPublicLinks: Bool
    /// Hosts other than the base URL's that the operator trusts as much: links and redirects may lead there whatever
    /// their address.
    public var trustedHosts: [String]
    /// Largest body accepted, in bytes.
    public var maximumResponseBytes: Int
    /// Whether Larder logs in there for its accounts.
    public var hasSessions: Bool
    /// Whether the API limits requests by account, so that a 429 is about one account only.
    public var limitsByCredential: Bool
    /// Path that the probe asks for, below the base URL.
    public var probePath: String
    /// How its API is mounted.
    public var mount: MountOptions
    /// Whether the sandbox of this server simulates it.
    public var isSimulated = false

    /// Creates a configuration; the defaults are those of the settings.
    public init(
        name: String,
        title: String,
        baseURL: URL,
        connectTimeout: Duration = .milliseconds(3000),
        totalTimeout: Duration = .milliseconds(8000),
        patience: Duration = .milliseconds(2000),
        probeInterval: Duration = .milliseconds(5000),
        allowedHosts: [String] = [],
        followsPublicLinks: Bool = false,
        trustedHosts: [String] = [],
        maximumResponseBytes: Int = 16 << 20,
        hasSessions: Bool = false,
        limitsByCredential: Bool = false,
        probePath: String = "/",
        mount: MountOptions = MountOptions()
    ) {
        self.name = name
        self.title = title
        self.baseURL = baseURL
        self.connectTimeout = connectTimeout
        self.totalTimeout = totalTimeout
        self.patience = patience
        self.probeInterval = probeInterval
        self.allowedHosts = allowedHosts
        self.followsPublicLinks = followsPublicLinks
        self.trustedHosts = trustedHosts
        self.maximumResponseBytes = maximumResponseBytes
        self.hasSessions = hasSessions
        self.limitsByCredential = limitsByCredential
        self.probePath = probePath
        self.mount = mount
    }

    /// Returns the absolute URL of a path, and query, below the base URL.
    public func url(of path: String) -> String {
        baseURL.absoluteString + path
    }
}
