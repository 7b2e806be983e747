import HTTP
import HTTPTypes
import Screens
import Upstream

extension [Action] {
    /// Returns the actions on a file or folder. Changes that the outbox takes are queued while the Disk is unreachable
    /// or fails, or behind one that waits already; the others cannot be made then.
    static func ofFile(_ row: DiskRow, _ availability: ChangeAvailability) -> [Action] {
        let item = row.item
        let href = item.path.link(to: "/v1/disk/file")
        var actions: [Action] = []
        if item.kind == .file {
            let reason = availability.isOffline && !row.isDownloaded ? availability.away : nil
            actions += [
                .share(item, disabled: row.isDownloaded ? nil : availability.away),
                .download(item.path, disabled: row.unsent ?? reason),
            ]
        }
        // The root is neither published nor removed nor renamed.
        guard !item.path.isRoot else { return actions }
        let (refusal, isHeldUp) = (availability.refusal(item.path), availability.isHeldUp(item.path))
        actions += [
            .link(item, refusal),
            .delete(item, href: href, refusal),
            .rename(item, href: href, refusal),
            .sending(item, "move", .move, prefersAsync: true, disabled: refusal),
            .sending(item, "copy", .copy, disabled: isHeldUp ? .waitsForDisk : availability.away),
        ]
        return actions + ofRow(row, availability)
    }

    /// Returns the actions on a row of a list. The address of a folder is its content, so an action shows its own
    /// screen, which has all others.
    static func ofListedRow(_ row: DiskRow, _ availability: ChangeAvailability) -> [Action] {
        ofRow(row, availability) + (row.item.kind == .dir ? [.details(row.item.path)] : [])
    }

    private static func ofRow(_ row: DiskRow, _ availability: ChangeAvailability) -> [Action] {
        (row.item.isPublished ? [.unpublish(row.item, availability.refusal(row.item.path))] : []) + [.offline(row)]
    }
}

/// Which changes can be made now, by requests to the API or through the outbox.
struct ChangeAvailability {
    let isOffline: Bool
    /// Why a change that the outbox does not take cannot be made now; nil if it can.
    let away: Text?
    /// Whether nothing more can be queued.
    let isOutboxFull: Bool
    /// Whether a change of a path waits for another one.
    let isHeldUp: (DiskPath) -> Bool

    /// - Parameters:
    ///   - provenance: Of the screen: if the API did not serve it, a change is not possible, either.
    ///   - account: Nil in the response to a write.
    init(_ provenance: Provenance, _ pending: Meta.PendingWrites?, of account: String?, _ store: DiskStore) {
        isOffline = provenance.offline
        away = Text.diskAway(provenance)
        isOutboxFull = store.isOutboxFull(pending)
        isHeldUp = { path in account.map { store.outbox.isTouched([path], of: $0) } ?? false }
    }

    /// Why a change that the outbox takes cannot be made now; nil if it can.
    fileprivate func refusal(_ path: DiskPath) -> Text? {
        isOutboxFull && (away != nil || isHeldUp(path)) ? .outboxIsFull : nil
    }
}

extension DiskRow {
    /// Why a request for the item cannot be sent: the Disk has the item elsewhere, or not yet. Nil if it can be sent.
    fileprivate var unsent: Text? { isMadeHere || item.source != nil ? .waitsForDisk : nil }
}

extension Action {
    static func refresh(_ href: Link) -> Action { .show("refresh", .refresh, href) }

    static func createFolder(in folder: DiskPath, _ availability: ChangeAvailability) -> Action {
        let fields = [Field("path", .text, .path, value: folder.below)]
        // The name is not known yet: the folder alone may hold it up.
        let refusal = availability.refusal(folder.child(""))
        let href: Link = "/v1/disk/folders"
        return call("create_folder", .newFolder, "POST", href, refusal, fields: fields, prefersAsync: true)
    }

    /// Returns the action that sends a request to the app.
    ///
    /// - Parameter prefersAsync: Whether it asks for a place in the outbox instead of a refusal (RFC 7240).
    static func call(
        _ id: String,
        _ title: Text,
        _ method: String,
        _ href: Link,
        _ refusal: Text? = nil,
        body: [String: Constant]? = nil,
        fields: [Field]? = nil,
        prefersAsync: Bool = false,
        confirm: Confirmation? = nil
    ) -> Action {
        Action(
            id: id,
            title: title,
            method: method,
            href: href,
            body: body,
            fields: fields,
            headers: prefersAsync ? ["Prefer": HTTPFields.respondAsync] : nil,
            disabled: refusal,
            confirm: confirm
        )
    }

    private static let overwrite = Field("overwrite", .boolean, .overwrite, required: false)

    /// Returns the action that takes an item back out of the trash.
    static func restore(_ item: DiskItem, disabled reason: Text?) -> Action {
        let body = ["path": Constant.text(item.path.text)]
        let fields = [Field("name", .text, .name, required: false), overwrite]
        return call("restore", .restore, "POST", "/v1/disk/trash/restore", reason, body: body, fields: fields)
    }

    fileprivate static func details(_ path: DiskPath) -> Action {
        .show("details", .details, path.link(to: "/v1/disk/file"))
    }

    /// Returns the action that fetches the content as a job, with its progress.
    static func download(_ path: DiskPath, disabled reason: Text? = nil) -> Action {
        call("download", .download, "POST", "/v1/disk/downloads", reason, body: ["path": .text(path.text)])
    }

    /// Returns the action that moves or copies an item to another path.
    fileprivate static func sending(
        _ item: DiskItem,
        _ id: String,
        _ title: Text,
        prefersAsync: Bool = false,
        disabled reason: Text?
    ) -> Action {
        let (href, body): (Link, _) = ("/v1/disk/files/\(id)", ["from": Constant.text(item.path.text)])
        let fields = [Field("to", .text, .path, value: item.path.text), overwrite]
        return call(id, title, "POST", href, reason, body: body, fields: fields, prefersAsync: prefersAsync)
    }

    /// Returns the action that removes the public address of an item. The original app asks in a sheet with the item's
    /// name.
    fileprivate static func unpublish(_ item: DiskItem, _ refusal: Text?) -> Action {
        let confirm = Confirmation(message: Text(verbatim: item.name), buttons: [.unpublish, .cancel])
        let href = item.path.link(to: "/v1/disk/published")
        return call("unpublish", .unpublish, "DELETE", href, refusal, prefersAsync: true, confirm: confirm)
    }

    /// Returns the action that keeps an item offline, or ends that. Both need no upstream.
    fileprivate static func offline(_ row: DiskRow) -> Action {
        let path = row.item.path
        if row.offline == .marked { return .removeOffline(path) }
        return .keepOffline(path, disabled: row.offline == .inherited ? .keptWithFolder : row.unsent)
    }

    /// Returns the action that gives an item a public address, permanently or for a number of seconds.
    fileprivate static func link(_ item: DiskItem, _ refusal: Text?) -> Action {
        let fields = [Field("available_for_s", .integer, .seconds, required: false)]
        let (href, body): (Link, _) = ("/v1/disk/links", ["path": Constant.text(item.path.text)])
        return call("link", .shareLink, "POST", href, refusal, body: body, fields: fields, prefersAsync: true)
    }

    fileprivate static func rename(_ item: DiskItem, href: Link, _ refusal: Text?) -> Action {
        let fields = [Field("name", .text, .name, value: item.name)]
        return call("rename", .rename, "PATCH", href, refusal, fields: fields, prefersAsync: true)
    }

    fileprivate static func share(_ item: DiskItem, disabled reason: Text?) -> Action {
        call("share", .shareFile, "GET", item.path.link(to: "/v1/disk/file/content"), reason)
    }

    fileprivate static func delete(_ item: DiskItem, href: Link, _ refusal: Text?) -> Action {
        let confirm = Confirmation(message: .confirmDeletion(of: item), buttons: [.deletion(of: item), .cancel])
        return call("delete", .delete, "DELETE", href, refusal, prefersAsync: true, confirm: confirm)
    }
}
