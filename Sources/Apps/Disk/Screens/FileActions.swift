import Screens

extension [Action] {
    /// Returns the actions on a file or folder. Changes that the outbox takes are left there while the Disk is
    /// unreachable, or behind one that waits already; the others cannot be made then.
    static func ofFile(_ row: DiskRow, offline: Bool) -> [Action] {
        let item = row.item
        let isLeft = offline || row.pending != nil
        let href = item.path.link(to: "/v1/disk/file")
        var actions: [Action] = []
        if item.kind == .file {
            let reason: Text? = row.unsent ?? (offline && !row.isDownloaded ? .diskAway : nil)
            actions += [.share(row, offline: offline), .download(item.path, disabled: reason)]
        }
        // The root is neither published nor removed nor renamed.
        guard !item.path.isRoot else { return actions }
        actions += [
            .link(item, isLeft: isLeft),
            .delete(item, href: href, isLeft: isLeft),
            .rename(item, href: href, isLeft: isLeft),
            .sending(item, "move", .move, headers: Action.leaving(isLeft)),
            .sending(item, "copy", .copy, disabled: row.unsent ?? (offline ? .diskAway : nil)),
        ]
        return actions + ofRow(row, offline: offline)
    }

    /// Returns the actions on a row of a list. The address of a folder is its content, so an action shows its own
    /// screen, which has all others.
    static func ofListedRow(_ row: DiskRow, offline: Bool) -> [Action] {
        ofRow(row, offline: offline) + (row.item.kind == .dir ? [.details(row.item.path)] : [])
    }

    private static func ofRow(_ row: DiskRow, offline: Bool) -> [Action] {
        let isLeft = offline || row.pending != nil
        return (row.item.isPublished ? [.unpublish(row.item, isLeft: isLeft)] : []) + [.keeping(row)]
    }
}

extension DiskRow {
    /// Why the Disk cannot be asked for it; nil if it can.
    fileprivate var unsent: Text? { item.queuedUpload == nil ? nil : .waitsForDisk }
}

extension Action {
    /// Returns the header fields of a write that may be left in the outbox.
    fileprivate static func leaving(_ isLeft: Bool) -> [String: String]? { isLeft ? ["Prefer": "respond-async"] : nil }

    /// Returns the action that requests a list again.
    static func refresh(_ href: Link) -> Action {
        .show("refresh", .refresh, href)
    }

    /// Returns the action that makes a folder in another one.
    static func createFolder(in folder: DiskPath, offline: Bool) -> Action {
        Action(
            id: "create_folder",
            title: .newFolder,
            method: "POST",
            href: "/v1/disk/folders",
            fields: [Field("path", .text, value: folder.below)],
            headers: leaving(offline)
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
    fileprivate static func unpublish(_ item: DiskItem, isLeft: Bool) -> Action {
        Action(
            id: "unpublish",
            title: .unpublish,
            method: "DELETE",
            href: item.path.link(to: "/v1/disk/published"),
            headers: leaving(isLeft),
            confirm: Confirmation(message: Text(verbatim: item.name), buttons: [.unpublish, .cancel])
        )
    }

    /// Returns the action that keeps an item offline, or ends that. Both need no upstream.
    fileprivate static func keeping(_ row: DiskRow) -> Action {
        let path = row.item.path
        if row.offline == .marked { return .removeOffline(path) }
        return .keepOffline(path, disabled: row.offline == .inherited ? .keptWithFolder : row.unsent)
    }

    /// Returns the action that gives an item a public address, permanently or, if it is not left in the outbox, for a
    /// number of seconds.
    fileprivate static func link(_ item: DiskItem, isLeft: Bool) -> Action {
        Action(
            id: "link",
            title: .shareLink,
            method: "POST",
            href: "/v1/disk/links",
            body: ["path": .text(item.path.text)],
            fields: isLeft ? nil : [Field("available_for_s", .integer, required: false)],
            headers: leaving(isLeft)
        )
    }

    fileprivate static func rename(_ item: DiskItem, href: Link, isLeft: Bool) -> Action {
        Action(
            id: "rename",
            title: .rename,
            method: "PATCH",
            href: href,
            fields: [Field("name", .text, value: item.name)],
            headers: leaving(isLeft)
        )
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

    fileprivate static func delete(_ item: DiskItem, href: Link, isLeft: Bool) -> Action {
        Action(
            id: "delete",
            title: .delete,
            method: "DELETE",
            href: href,
            headers: leaving(isLeft),
            confirm: Confirmation(
                message: .confirmDeletion(of: item),
                buttons: [.deletion(of: item), .cancel]
            )
        )
    }
}
