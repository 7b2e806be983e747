/// The upstreams that the sandbox simulates; the raw value is the prefix of their paths.
public enum SandboxUpstream: String, Sendable, CaseIterable {
    /// The SpaceX REST API, ships only (`/v4/ships`).
    case spacex
    /// The Platzi Fake Store API, products and categories (`/products`, `/categories`).
    case catalogue
}
