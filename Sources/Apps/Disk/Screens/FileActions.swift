import Screens

extension [Action] {
    /// Returns the actions on a file or folder. Offline, nothing can be changed, so no change is enabled.
    static func ofFile(_ row: DiskRow, offline: Bool) -> [Action] {
        let item = row.item
        let href = item.path.link(to: "/v1/disk/file")
        var actions: [Action] = []
        if item.kind == .file { actions.append(.share(row, offline: offline)) }
        return actions + [
            Action(id: "link", title: "Share link", method: "POST", href: "/v1/disk/links", enabled: !offline),
            .delete(item, href: href, offline: offline),
            Action(id: "rename", title: "Rename", method: "PATCH", href: href, enabled: !offline),
        ]
    }
}

extension Action {
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
