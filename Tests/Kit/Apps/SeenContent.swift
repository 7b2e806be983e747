package import Testing

/// The content of screens seen so far, to find out whether `meta.fetched_at` moves with it.
package struct SeenContent {
    private var seen: [String: (content: JSON, fetchedAt: String)] = [:]
    /// How often a screen had another content than before.
    package private(set) var changes = 0

    /// Nothing is seen yet.
    package init() {}

    /// Expects that content which is another one than before was received later. The clock must have moved on by a
    /// second since then. Actions and empty states depend on more than the content.
    package mutating func check(
        _ response: Exchanged,
        of screen: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard response.status == 200, let data = response["data"],
            case .string(let fetchedAt) = response["meta.fetched_at"]
        else { return }
        let content = data.without(["actions", "empty"])
        defer { seen[screen] = (content, fetchedAt) }
        guard let before = seen[screen], before.content != content else { return }
        changes += 1
        #expect(
            before.fetchedAt < fetchedAt,
            "\(screen): \(before.content) became \(content)",
            sourceLocation: sourceLocation
        )
    }
}

extension JSON {
    /// Returns the value without members of these names.
    fileprivate func without(_ names: Set<String>) -> JSON {
        switch self {
        case .object(let members):
            .object(members.filter { !names.contains($0.key) }.mapValues { $0.without(names) })
        case .array(let items): .array(items.map { $0.without(names) })
        default: self
        }
    }
}
