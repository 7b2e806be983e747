/// The simulated upstreams as they were: data, faults and rules. Requests that were held, and the journal, are not part
/// of it.
package struct SavedUpstreams: Sendable {
    /// One for each upstream, in their order.
    let data: [any Sendable]
    let rules: [RuleSet]
    /// Upstreams that were made from documents.
    let stubs: [OpenAPIStub]
}
