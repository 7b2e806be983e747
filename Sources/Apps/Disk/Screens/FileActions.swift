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
            Action(id: "link", title: "Share link", method: "POST", href: "/v1/disk/links", enabled: !offline),
            .delete(item, href: href, offline: offline),
            Action(id: "rename", title: "Rename", method: "PATCH", href: href, enabled: !offline),
        ]
        return actions + ofRow(row, offline: offline)
    }

    /// Returns the actions on a row of a list.
    static func ofRow(_ row: DiskRow, offline: Bool) -> [Action] {
        row.item.isPublished ? [.unpublish(row.item, offline: offline)] : []
    }
}

extension Action {
    /// Returns the action that requests a list again.
    static func refresh(_ href: String) -> Action {
        Action(id: "refresh", title: "Refresh", method: "GET", href: href)
    }

    /// Returns the action that removes the public address of an item. The original app asks in a sheet with the item's
    /// name.
    fileprivate static func unpublish(_ item: DiskItem, offline: Bool) -> Action {
        Action(
            id: "unpublish",
            title: "Unpublish file",
            method: "DELETE",
            href: item.path.link(to: "/v1/disk/published"),
            enabled: !offline,
            confirm: Confirmation(message: item.name, buttons: ["Unpublish file", "Cancel"])
        )
    }

    fileprivate static func share(_ row: DiskRow, offline: Bool) -> Action {
        Action(
            id: "share",
            title: "Share file",
            method: "GET",
            href: row.item.path.link(to: "/v1/disk/file/content"),
            enabled: !offline || row.isDownloaded
        )
    }

    fileprivate static func delete(_ item: DiskItem, href: String, offline: Bool) -> Action {
        let noun = item.kind == .dir ? "folder" : item.viewer == .image ? "image" : "file"
        return Action(
            id: "delete",
            title: "Delete",
            method: "DELETE",
            href: href,
            enabled: !offline,
            confirm: Confirmation(
                message: "Current \(noun) will be deleted",
                buttons: ["Delete \(noun)", "Cancel"]
            )
        )
    }
}
