import Screens

extension [Action] {
    /// Returns the actions on a file or folder. Offline, nothing can be changed, so no change is enabled.
    static func ofFile(_ row: DiskRow, offline: Bool) -> [Action] {
        let item = row.item
        let href = item.path.link(to: "/v1/disk/file")
        var actions: [Action] = []
        if item.kind == .file { actions.append(.share(row, offline: offline)) }
        // The root is neither published nor removed nor renamed.
        guard !item.path.isRoot else { return actions }
        actions += [
            .link(item, offline: offline),
            .delete(item, href: href, offline: offline),
            .rename(item, href: href, offline: offline),
        ]
        return actions + ofRow(row, offline: offline)
    }

    /// Returns the actions on a row of a list.
    static func ofRow(_ row: DiskRow, offline: Bool) -> [Action] {
        (row.item.isPublished ? [.unpublish(row.item, offline: offline)] : []) + [.keeping(row)]
    }
}

extension Action {
    /// Returns the action that requests a list again.
    static func refresh(_ href: Link) -> Action {
        Action(id: "refresh", title: .refresh, method: "GET", href: href)
    }

    /// Returns the action that removes the public address of an item. The original app asks in a sheet with the item's
    /// name.
    fileprivate static func unpublish(_ item: DiskItem, offline: Bool) -> Action {
        Action(
            id: "unpublish",
            title: .unpublish,
            method: "DELETE",
            href: item.path.link(to: "/v1/disk/published"),
            enabled: !offline,
            confirm: Confirmation(message: Text(verbatim: item.name), buttons: [.unpublish, .cancel])
        )
    }

    /// Returns the action that keeps an item offline, or ends that. Both need no upstream.
    fileprivate static func keeping(_ row: DiskRow) -> Action {
        let path = row.item.path
        return row.offline == .marked ? .removeOffline(path) : .keepOffline(path, isKept: row.offline == .inherited)
    }

    /// Returns the action that gives an item a public address, for ever or for a number of seconds.
    fileprivate static func link(_ item: DiskItem, offline: Bool) -> Action {
        Action(
            id: "link",
            title: .shareLink,
            method: "POST",
            href: "/v1/disk/links",
            body: ["path": .text(item.path.text)],
            fields: [Field("available_for_s", .integer, required: false)],
            enabled: !offline
        )
    }

    fileprivate static func rename(_ item: DiskItem, href: Link, offline: Bool) -> Action {
        Action(
            id: "rename",
            title: .rename,
            method: "PATCH",
            href: href,
            fields: [Field("name", .text, value: item.name)],
            enabled: !offline
        )
    }

    fileprivate static func share(_ row: DiskRow, offline: Bool) -> Action {
        Action(
            id: "share",
            title: .shareFile,
            method: "GET",
            href: row.item.path.link(to: "/v1/disk/file/content"),
            enabled: !offline || row.isDownloaded
        )
    }

    fileprivate static func delete(_ item: DiskItem, href: Link, offline: Bool) -> Action {
        Action(
            id: "delete",
            title: .delete,
            method: "DELETE",
            href: href,
            enabled: !offline,
            confirm: Confirmation(
                message: .confirmDeletion(of: item),
                buttons: [.deletion(of: item), .cancel]
            )
        )
    }
}
