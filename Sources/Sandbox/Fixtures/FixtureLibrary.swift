/// The files of all upstreams of a server.
public struct FixtureLibrary: Sendable {
    /// In the order of their names.
    public let upstreams: [UpstreamFixtures]

    /// Creates a library.
    public init(_ upstreams: [UpstreamFixtures]) { self.upstreams = upstreams.sorted { $0.name < $1.name } }

    /// Those of an upstream; nil if it has none.
    public subscript(_ name: String) -> UpstreamFixtures? { upstreams.first { $0.name == name } }

    /// Sets the modes of the settings.
    public func reset() {
        for upstream in upstreams { upstream.reset() }
    }
}
