/// How a list is sorted: a key, and whether from the end.
struct DiskOrder: Equatable {
    enum Key: String, CaseIterable {
        case name, path, created, modified, size, deleted
    }

    let key: Key
    let isReversed: Bool

    init(key: Key, isReversed: Bool = false) {
        self.key = key
        self.isReversed = isReversed
    }

    init?(_ text: String) {
        isReversed = text.hasPrefix("-")
        guard let key = Key(rawValue: isReversed ? String(text.dropFirst()) : text) else { return nil }
        self.key = key
    }
}

extension DiskTree {
    /// The children of a folder. Without an order: folders first, then by name.
    mutating func children(of folder: Int, order: DiskOrder?) -> [Int] {
        ordered("folder \(folder) \(order.map { "\($0)" } ?? "")") { tree in
            let nodes = (tree.nodes[folder]?.children ?? [:]).values.compactMap { tree.nodes[$0] }
            return tree.sorted(nodes, order: order) {
                $0.isDirectory != $1.isDirectory ? $0.isDirectory : $0.name < $1.name
            }
        }
    }

    /// All files outside the trash, of those media types. Without an order: by name.
    mutating func files(mediaTypes: [String], order: DiskOrder?) -> [Int] {
        ordered("files \(mediaTypes) \(order.map { "\($0)" } ?? "")") { tree in
            tree.sorted(tree.files(mediaTypes), order: order) { $0.name != $1.name ? $0.name < $1.name : $0.id < $1.id }
        }
    }

    /// The same, the last upload first.
    mutating func lastUploaded(mediaTypes: [String]) -> [Int] {
        ordered("uploads \(mediaTypes)") { tree in
            tree.sorted(tree.files(mediaTypes), order: nil) { $0.uploaded > $1.uploaded }
        }
    }

    /// What is published, the last one first.
    mutating func published(directories: Bool?) -> [Int] {
        ordered("published \(directories.map { "\($0)" } ?? "")") { tree in
            let nodes = tree.nodes.values.filter {
                $0.publication != nil && (directories == nil || $0.isDirectory == directories)
            }
            return tree.sorted(Array(nodes), order: nil) {
                ($0.publication?.revision ?? 0) > ($1.publication?.revision ?? 0)
            }
        }
    }

    private func files(_ mediaTypes: [String]) -> [DiskNode] {
        subtree(of: root).filter {
            !$0.isDirectory && (mediaTypes.isEmpty || mediaTypes.contains($0.type.media))
        }
    }

    private func sorted(_ nodes: [DiskNode], order: DiskOrder?, otherwise: (DiskNode, DiskNode) -> Bool) -> [Int] {
        guard let order else { return nodes.sorted(by: otherwise).map(\.id) }
        let sorted: [Int] =
            switch order.key {
            case .name: keyed(nodes) { $0.displayName }
            case .path: keyed(nodes) { path(of: $0).description }
            case .created: keyed(nodes) { $0.created }
            case .modified: keyed(nodes) { $0.modified }
            case .size: keyed(nodes) { $0.content?.size ?? 0 }
            case .deleted: keyed(nodes) { $0.trashed?.at ?? $0.modified }
            }
        return order.isReversed ? sorted.reversed() : sorted
    }

    /// Equal keys follow by identity, so that pages of one list neither overlap nor leave anything out.
    private func keyed<Key: Comparable>(_ nodes: [DiskNode], _ key: (DiskNode) -> Key) -> [Int] {
        nodes.map { (key: key($0), id: $0.id) }.sorted { $0.key != $1.key ? $0.key < $1.key : $0.id < $1.id }.map(\.id)
    }
}
