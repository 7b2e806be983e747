import Foundation
import Screens

/// Lists: recent files, those of a folder, published and found ones.
struct RowListScreen: Encodable, Sendable {
    struct Folder: Encodable, Sendable {
        let path: String
        let name: Text
        @Nullable var parent: String?

        init(_ path: DiskPath) {
            self.path = path.text
            name = path.isRoot ? .disk : Text(verbatim: path.name)
            _parent = Nullable(wrappedValue: path.parent?.text)
        }
    }

    let items: [RowScreen]
    let folder: Folder?
    let empty: EmptyState?
    let actions: [Action]?

    init(
        _ rows: [DiskRow],
        timeZone: TimeZone,
        folder: DiskPath? = nil,
        empty: EmptyState,
        isEmpty: Bool,
        way: WriteWay,
        actions: [Action]? = nil
    ) {
        items = rows.map { RowScreen($0, timeZone: timeZone, actions: .ofListedRow($0, way)) }
        self.folder = folder.map(Folder.init)
        self.empty = isEmpty ? empty : nil
        self.actions = actions.map { $0 + (folder.map { [.createFolder(in: $0, way)] } ?? []) }
    }
}
