import Upstream

/// The paths at which the Disk as it will be is computed again after a change of one operation, and the operations that
/// act there. Other paths are unaffected.
struct OutlookRegion: Sendable {
    /// The paths that are made again, with all below them. None is below another one.
    let roots: [DiskPath]
    /// The operations that act there, in order.
    let entries: [OutboxEntry<QueuedWrite>]

    init(_ change: OutboxStep<QueuedWrite>) {
        let touched = (change.old?.work.places ?? []) + (change.new?.work.places ?? [])
        guard !change.isLast else {
            // It acts on the results of the others.
            roots = Self.outermost(Set(touched))
            entries = [change.new].compactMap { $0 }
            return
        }
        var (open, paths, found) = (touched, Set<DiskPath>(), [Int64: OutboxEntry<QueuedWrite>]())
        while !open.isEmpty {
            while let path = open.popLast() {
                guard !paths.contains(path), !path.above.contains(where: paths.contains) else { continue }
                paths.insert(path)
                for entry in change.inside(path) where found.updateValue(entry, forKey: entry.number) == nil {
                    open += entry.work.places
                }
            }
            let first = found.keys.min() ?? .max
            for entry in paths.flatMap(change.above) where found[entry.number] == nil {
                switch entry.work.kind {
                // Items below it do not depend on it.
                case .publish, .unpublish: continue
                // It is there before all that is made again.
                case .folder where entry.number < first: continue
                case .folder, .upload, .move, .delete: open += entry.work.places
                }
            }
        }
        roots = Self.outermost(paths)
        entries = found.values.sorted { $0.number < $1.number }
    }

    private static func outermost(_ paths: Set<DiskPath>) -> [DiskPath] {
        paths.filter { !$0.above.contains(where: paths.contains) }
    }
}

/// Collects the changed places of a region, for the lists.
struct OutlookWalk {
    /// The state of one place.
    struct Place {
        let path: DiskPath
        /// Where the API has it.
        let source: DiskPath?
        /// That, if it is shown at another path.
        let relocated: DiskPath?
        /// Whether the API has something there that is not shown, and nothing in its place.
        let isGap: Bool
        /// Whether it is moved, and shown in the place of its row.
        let isRenamed: Bool
        let shown: DiskOutlook.Shown?
    }

    private let change: OutboxStep<QueuedWrite>
    private(set) var places: [Place] = []

    init(_ change: OutboxStep<QueuedWrite>) {
        self.change = change
    }

    /// Looks at a path, and at all below it.
    mutating func look(at path: DiskPath, in projection: DiskProjection) {
        // A write below a path that an earlier write removes has no effect, once the write between them has none.
        guard let parent = path.parent, !projection.hides(parent), let folder = projection.node(parent),
            let node = projection.node(path)
        else { return }
        look(at: node, path, in: folder)
    }

    private mutating func look(at node: DiskProjection.Node, _ path: DiskPath, in folder: DiskProjection.Node) {
        let natural = folder.source?.child(path.name)
        let isInPlace = node.isInPlace(in: folder.source)
        let isFilled = node.keepsPlace && !node.isHidden && !isInPlace
        let isMoved = !node.isHidden && node.source != natural
        let shown = node.isHidden ? nil : shown(node, path, isAdded: !isInPlace && !node.keepsPlace)
        places.append(
            Place(
                path: path,
                source: node.source,
                relocated: isMoved ? node.source : nil,
                isGap: natural != nil && node.replaces && !isFilled,
                isRenamed: shown != nil && isInPlace && (isMoved || node.replaces),
                shown: shown
            )
        )
        guard !node.isHidden else { return }
        for (name, child) in node.children { look(at: child, path.child(name.text), in: node) }
    }

    private func shown(_ node: DiskProjection.Node, _ path: DiskPath, isAdded: Bool) -> DiskOutlook.Shown? {
        node.write.map { DiskOutlook.Shown(path, node, $0, change.entry($0)?.work.subject, isAdded: isAdded) }
    }
}
