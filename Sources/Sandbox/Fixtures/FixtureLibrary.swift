/// The files of all upstreams of a server.
package struct FixtureLibrary: Sendable {
    /// In the order of their names.
    package let upstreams: [UpstreamFixtures]

    /// Creates a library.
    package init(_ upstreams: [UpstreamFixtures]) { self.upstreams = upstreams.sorted { $0.name < $1.name } }

    /// Those of an upstream; nil if it has none.
    package subscript(_ name: String) -> UpstreamFixtures? { upstreams.first { $0.name == name } }

    /// Sets the modes of the settings.
    package func reset() {
        for upstream in upstreams { upstream.reset() }
    }
}
