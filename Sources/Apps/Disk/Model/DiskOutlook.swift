import Foundation
import Synchronization
import TextSearch
import Upstream

/// The Disk of an account as it will be, with what lists need of it: `rows + operations -> rows`, made once for each
/// state of the outbox.
final class DiskOutlook: Sendable {
    /// A place that is shown other than the API has it.
    struct Shown: Sendable {
        let path: DiskPath
        let node: DiskProjection.Node
        /// The name as searches compare it.
        let folded: String
    }

    /// What a folder shows other than the API lists it.
    struct Folder: Sendable {
        /// What is shown before the API's rows: it has no place among them.
        var added: [Shown] = []
        /// What is moved, and shown in the place of its row: in this folder under another name, or as before.
        var renamed: [Shown] = []
        /// By how much the number of rows differs, apart from ``added``.
        var difference = 0
    }

    /// Most lists whose order is kept.
    private static let mostLists = 64

    let projection: DiskProjection
    /// All places that are shown otherwise, in no order.
    let shown: [Shown]
    private let folders: [DiskPath: Folder]
    /// Where things of the API are shown, by the path that the API has them at.
    private let relocations: [DiskPath: DiskPath]
    private let positions: [String: Int]
    private let sorted = Mutex<[String: [Shown]]>([:])

    /// Looks through the places that writes touch.
    init(_ projection: DiskProjection, _ entries: [OutboxEntry<QueuedWrite>]) {
        self.projection = projection
        var walk = Walk()
        walk.look(at: projection.root, .root)
        shown = walk.shown
        relocations = walk.relocations
        positions = Dictionary(entries.enumerated().map { ($1.id, $0) }) { first, _ in first }
        var folders = walk.folders
        for (folder, gaps) in walk.gaps {
            let moved = gaps.count { gap in
                Self.visible(gap.source, projection, walk.relocations)?.parent == folder
            }
            folders[folder, default: Folder()].difference += moved - gaps.count { !$0.isFilled }
        }
        self.folders = folders
    }

    /// Returns what a folder shows otherwise.
    func folder(_ path: DiskPath) -> Folder { folders[path] ?? Folder() }

    /// Returns what is added to a list in an order, made once.
    func sorted(_ key: String, _ rows: @autoclosure () -> [Shown], by precedes: (Shown, Shown) -> Bool) -> [Shown] {
        if let known = sorted.withLock({ $0[key] }) { return known }
        let made = rows().sorted(by: precedes)
        sorted.withLock { known in
            if known.count >= Self.mostLists { known = [:] }
            known[key] = made
        }
        return made
    }

    /// Returns the path under which something of the API is shown; nil if it is not.
    func visible(_ source: DiskPath) -> DiskPath? { Self.visible(source, projection, relocations) }

    private static func visible(
        _ source: DiskPath,
        _ projection: DiskProjection,
        _ relocations: [DiskPath: DiskPath]
    ) -> DiskPath? {
        var path = source
        for above in source.lineage {
            guard let place = relocations[above] else { continue }
            path = source.moved(from: above, to: place) ?? source
            break
        }
        guard case .upstream(source, _) = projection.place(path) else { return nil }
        return path
    }

    /// Returns the paths that a folder shows in the place of a row of the API.
    ///
    /// - Parameters:
    ///   - source: The path of that row.
    ///   - ahead: The paths of moves that the API may have carried out. What they move is shown before the API's rows.
    func paths(inPlaceOf source: DiskPath, in folder: DiskPath, ahead: [DiskPath]) -> [DiskPath] {
        var paths: [DiskPath] = []
        let own = folder.child(source.name)
        if let node = projection.node(own), node.keepsPlace, !node.isHidden, !node.isInPlace(in: source.parent) {
            paths.append(own)
        }
        guard let path = visible(source), path.parent == folder else { return paths }
        let isMoved = path.name != source.name || projection.node(path)?.replaces == true
        if isMoved, ahead.contains(where: { $0.covers(source) }) { return paths }
        return paths + [path]
    }

    /// Returns what is renamed in a folder by moves that the API may have carried out.
    func displaced(in folder: DiskPath, ahead: [DiskPath]) -> [Shown] {
        guard !ahead.isEmpty, let renamed = folders[folder]?.renamed else { return [] }
        return renamed.filter { shown in ahead.contains { $0.covers(shown.node.source ?? shown.path) } }
    }

    /// Returns how a row says that its write waits.
    func pending(_ write: String?, in queue: OutboxQueue<QueuedWrite>) -> PendingWrite? {
        write.flatMap { entry($0, in: queue) }.map(PendingWrite.init)
    }

    /// Returns an operation as it is now; nil if it is done.
    func entry(_ id: String, in queue: OutboxQueue<QueuedWrite>) -> OutboxEntry<QueuedWrite>? {
        if let position = positions[id], position < queue.entries.count, queue.entries[position].id == id {
            return queue.entries[position]
        }
        return queue[id]
    }
}

extension DiskOutlook {
    /// A place where the API has something that is not shown there.
    private struct Gap {
        let source: DiskPath
        /// Whether something else is shown in its place.
        let isFilled: Bool
    }

    private struct Walk {
        var shown: [Shown] = []
        var folders: [DiskPath: Folder] = [:]
        var relocations: [DiskPath: DiskPath] = [:]
        var gaps: [DiskPath: [Gap]] = [:]

        mutating func look(at node: DiskProjection.Node, _ path: DiskPath) {
            for (name, child) in node.children {
                let childPath = path.child(name.text)
                let natural = node.source?.child(name.text)
                if let natural, child.replaces {
                    let isFilled = child.keepsPlace && !child.isHidden && !child.isInPlace(in: node.source)
                    gaps[path, default: []].append(Gap(source: natural, isFilled: isFilled))
                }
                if child.isHidden { continue }
                if let source = child.source, source != natural { relocations[source] = childPath }
                if child.item != nil || child.write != nil || child.source != natural {
                    let shown = Shown(path: childPath, node: child, folded: childPath.name.partFolded)
                    self.shown.append(shown)
                    if child.isInPlace(in: node.source) {
                        let isMoved = child.source != natural || child.replaces
                        if isMoved { folders[path, default: Folder()].renamed.append(shown) }
                    } else if !child.keepsPlace {
                        folders[path, default: Folder()].added.append(shown)
                    }
                }
                look(at: child, childPath)
            }
        }
    }
}
