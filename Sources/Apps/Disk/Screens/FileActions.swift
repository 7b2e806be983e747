import HTTP
import HTTPTypes
import Screens

extension [Action] {
    /// Returns the actions on a file or folder. Changes that the outbox takes are left there while the Disk is
    /// unreachable, or behind one that waits already; the others cannot be made then.
    static func ofFile(_ row: DiskRow, _ way: WriteWay) -> [Action] {
        let item = row.item
        let (offline, way) = (way.offline, way.of(row))
        let href = item.path.link(to: "/v1/disk/file")
        var actions: [Action] = []
        if item.kind == .file {
            let reason: Text? = row.unsent ?? (offline && !row.isDownloaded ? .diskAway : nil)
            actions += [.share(row, offline: offline), .download(item.path, disabled: reason)]
        }
        // The root is neither published nor removed nor renamed.
        guard !item.path.isRoot else { return actions }
        actions += [
            .link(item, way),
            .delete(item, href: href, way),
            .rename(item, href: href, way),
            .sending(item, "move", .move, headers: way.headers, disabled: way.refusal),
            .sending(item, "copy", .copy, disabled: row.unsent ?? (offline ? .diskAway : nil)),
        ]
        return actions + ofRow(row, way)
    }

    /// Returns the actions on a row of a list. The address of a folder is its content, so an action shows its own
    /// screen, which has all others.
    static func ofListedRow(_ row: DiskRow, _ way: WriteWay) -> [Action] {
        ofRow(row, way.of(row)) + (row.item.kind == .dir ? [.details(row.item.path)] : [])
    }

    private static func ofRow(_ row: DiskRow, _ way: WriteWay) -> [Action] {
        (row.item.isPublished ? [.unpublish(row.item, way)] : []) + [.offline(row)]
    }
}

/// How a change of a screen is made: by a request to the API, or through the outbox.
struct WriteWay {
    /// Whether the Disk is unreachable, so that it is left in the outbox.
    var offline: Bool
    /// Whether nothing more can be left there.
    var isOutboxFull: Bool

    /// The header fields of the change.
    fileprivate var headers: [String: String]? { offline ? ["Prefer": HTTPFields.respondAsync] : nil }
    /// Why it is refused; nil if it is not.
    fileprivate var refusal: Text? { offline && isOutboxFull ? .outboxIsFull : nil }

    /// Returns the same for a row: a change behind one that waits is left, too.
    fileprivate func of(_ row: DiskRow) -> WriteWay {
        WriteWay(offline: offline || row.pending != nil, isOutboxFull: isOutboxFull)
    }
}

extension DiskRow {
    /// Why the Disk cannot be asked for it; nil if it can.
    fileprivate var unsent: Text? { item.queuedUpload == nil ? nil : .waitsForDisk }
}

extension Action {
    /// Returns the action that requests a list again.
    static func refresh(_ href: Link) -> Action {
        .show("refresh", .refresh, href)
    }

    static func createFolder(in folder: DiskPath, _ way: WriteWay) -> Action {
        let fields = [Field("path", .text, value: folder.below)]
        return write("create_folder", .newFolder, "POST", "/v1/disk/folders", way, fields: fields)
    }

    /// Returns the action that sends a write, or queues it.
    private static func write(
        _ id: String,
        _ title: Text,
        _ method: String,
        _ href: Link,
        _ way: WriteWay,
        body: [String: Constant]? = nil,
        fields: [Field]? = nil,
        confirm: Confirmation? = nil
    ) -> Action {
        Action(
            id: id,
            title: title,
            method: method,
            href: href,
            body: body,
            fields: fields,
            headers: way.headers,
            disabled: way.refusal,
            confirm: confirm
        )
    }

    /// Returns the action that takes an item back out of the trash.
    static func restore(_ item: DiskItem, offline: Bool) -> Action {
        Action(
            id: "restore",
            title: .restore,
            method: "POST",
            href: "/v1/disk/trash/restore",
            body: ["path": .text(item.path.text)],
            fields: [Field("name", .text, required: false), Field("overwrite", .boolean, required: false)],
            disabled: offline ? .diskAway : nil
        )
    }

    fileprivate static func details(_ path: DiskPath) -> Action {
        .show("details", .details, path.link(to: "/v1/disk/file"))
    }

    /// Returns the action that fetches the content as a job, with its progress.
    static func download(_ path: DiskPath, disabled reason: Text? = nil) -> Action {
        Action(
            id: "download",
            title: .download,
            method: "POST",
            href: "/v1/disk/downloads",
            body: ["path": .text(path.text)],
            disabled: reason
        )
    }

    /// Returns the action that moves or copies an item to another path.
    fileprivate static func sending(
        _ item: DiskItem,
        _ id: String,
        _ title: Text,
        headers: [String: String]? = nil,
        disabled reason: Text? = nil
    ) -> Action {
        Action(
            id: id,
            title: title,
            method: "POST",
            href: "/v1/disk/files/\(id)",
            body: ["from": .text(item.path.text)],
            fields: [Field("to", .text, value: item.path.text), Field("overwrite", .boolean, required: false)],
            headers: headers,
            disabled: reason
        )
    }

    /// Returns the action that removes the public address of an item. The original app asks in a sheet with the item's
    /// name.
    fileprivate static func unpublish(_ item: DiskItem, _ way: WriteWay) -> Action {
        let confirm = Confirmation(message: Text(verbatim: item.name), buttons: [.unpublish, .cancel])
        return write("unpublish", .unpublish, "DELETE", item.path.link(to: "/v1/disk/published"), way, confirm: confirm)
    }

    /// Returns the action that keeps an item offline, or ends that. Both need no upstream.
    fileprivate static func offline(_ row: DiskRow) -> Action {
        let path = row.item.path
        if row.offline == .marked { return .removeOffline(path) }
        return .keepOffline(path, disabled: row.offline == .inherited ? .keptWithFolder : row.unsent)
    }

    /// Returns the action that gives an item a public address, permanently or, if it is not left in the outbox, for a
    /// number of seconds.
    fileprivate static func link(_ item: DiskItem, _ way: WriteWay) -> Action {
        let fields = way.offline ? nil : [Field("available_for_s", .integer, required: false)]
        let body = ["path": Constant.text(item.path.text)]
        return write("link", .shareLink, "POST", "/v1/disk/links", way, body: body, fields: fields)
    }

    fileprivate static func rename(_ item: DiskItem, href: Link, _ way: WriteWay) -> Action {
        write("rename", .rename, "PATCH", href, way, fields: [Field("name", .text, value: item.name)])
    }

    fileprivate static func share(_ row: DiskRow, offline: Bool) -> Action {
        Action(
            id: "share",
            title: .shareFile,
            method: "GET",
            href: row.item.path.link(to: "/v1/disk/file/content"),
            disabled: offline && !row.isDownloaded ? .diskAway : nil
        )
    }

    fileprivate static func delete(_ item: DiskItem, href: Link, _ way: WriteWay) -> Action {
        let confirm = Confirmation(message: .confirmDeletion(of: item), buttons: [.deletion(of: item), .cancel])
        return write("delete", .delete, "DELETE", href, way, confirm: confirm)
    }
}
