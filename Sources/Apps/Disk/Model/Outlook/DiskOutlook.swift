import Foundation
import Storage
import Upstream

/// The Disk of an account after its pending writes, with the rows that lists need: `rows + operations -> rows`.
///
/// A change of an operation is applied only at the paths of that operation, and copies share their unchanged parts: the
/// cost of a change does not depend on the number of pending operations.
struct DiskOutlook: OutboxView {
    /// A place that is shown other than the API has it.
    final class Shown: Sendable {
        let path: DiskPath
        let node: DiskProjection.Node
        /// The number of the write that has made it, or has changed it last.
        let write: Int64
        /// The item as far as it is known without the API's row.
        let item: DiskItem?
        /// The name as searches compare it.
        let folded: String
        /// Whether it is shown before the API's rows of its folder: it has no place among them.
        let isAdded: Bool

        init(_ path: DiskPath, _ node: DiskProjection.Node, _ write: Int64, _ subject: SeenItem?, isAdded: Bool) {
            (self.path, self.node, self.write, self.isAdded) = (path, node, write, isAdded)
            item = node.item?.at(path) ?? subject?.item(at: path)
            folded = path.name.partFolded
        }
    }

    /// How a folder differs from the API's list of it, apart from added rows.
    struct Folder: Sendable {
        /// The moved items that are shown in the place of their row of the API, by the path of that row: in this folder
        /// under another name, or as before.
        var renamed = SharedMap<DiskPath, Shown>()
        /// By how much the number of rows differs.
        var difference = 0
    }

    private(set) var projection = DiskProjection()
    /// Bytes by which the used space will differ.
    private(set) var addedBytes = 0
    /// All places that are shown otherwise, sorted and searched. Copies share it: it is that of the last change.
    let lists = OutlookLists()
    private var folders = SharedMap<DiskPath, Folder>()
    /// Where things of the API are shown, by the path that the API has them at.
    private var relocations = SharedMap<DiskPath, DiskPath>()
    /// How many operations and places were looked at so far.
    private(set) var steps = 0

    mutating func follow(_ change: OutboxStep<QueuedWrite>) {
        addedBytes += (change.new?.work.addedBytes ?? 0) - (change.old?.work.addedBytes ?? 0)
        let region = OutlookRegion(change)
        var before = OutlookWalk(change)
        for root in region.roots { before.look(at: root, in: projection) }
        if !change.isLast {
            for root in region.roots { projection.forget(root) }
        }
        for entry in region.entries { projection.apply(entry.work, entry.number, at: entry.queuedAt) }
        var after = OutlookWalk(change)
        for root in region.roots { after.look(at: root, in: projection) }
        for place in before.places { note(place, isThere: false) }
        for place in after.places { note(place, isThere: true) }
        lists.update(removing: before.places.compactMap { $0.shown }, adding: after.places.compactMap { $0.shown })
        steps += region.entries.count + before.places.count + after.places.count
    }

    private mutating func note(_ place: OutlookWalk.Place, isThere: Bool) {
        if let source = place.relocated { relocations[source] = isThere ? place.path : nil }
        guard place.isGap || place.isRenamed, let parent = place.path.parent else { return }
        folders.update(parent, default: Folder()) { folder in
            let sign = isThere ? 1 : -1
            if place.isGap { folder.difference -= sign }
            if place.isRenamed, let source = place.source, let shown = place.shown {
                folder.difference += sign
                folder.renamed[source] = isThere ? shown : nil
            }
        }
        if let folder = folders[parent], folder.difference == 0, folder.renamed.isEmpty { folders[parent] = nil }
    }

    /// Returns how a folder differs from the API's list of it, apart from added rows.
    func folder(_ path: DiskPath) -> Folder { folders[path] ?? Folder() }

    /// Returns the path under which something of the API is shown; nil if it is not.
    func visible(_ source: DiskPath) -> DiskPath? {
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
    ///   - ahead: The paths of moves that the API may have carried out. The moved items are shown before the API's
    ///     rows.
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

    /// Returns the items renamed in a folder by moves that the API may have carried out.
    func displaced(in folder: DiskPath, ahead: [DiskPath]) -> [Shown] {
        guard !ahead.isEmpty, let renamed = folders[folder]?.renamed else { return [] }
        // All of them are in the same folder of the API.
        let source = renamed.first { _ in true }?.key.parent
        if let source, ahead.contains(where: { $0.covers(source) }) {
            return renamed.map(\.value).sorted { $0.write < $1.write }
        }
        return Set(ahead).compactMap { renamed[$0] }.sorted { $0.write < $1.write }
    }

    /// Returns how a row says that its write waits.
    func pending(_ write: Int64?, in queue: OutboxQueue<QueuedWrite>) -> PendingWrite? {
        write.flatMap { queue.entries[number: $0] }.map(PendingWrite.init)
    }
}
