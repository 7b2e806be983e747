import Screens

extension Action {
    static func share(_ href: String) -> Action {
        Action(id: "share", title: "Share", method: "GET", href: "\(href)/file")
    }

    static func rename(_ href: String) -> Action {
        Action(id: "rename", title: "Rename", method: "PATCH", href: href)
    }

    static func merge(enabled: Bool) -> Action {
        Action(id: "merge", title: "Merge", method: "POST", href: "/v1/pdf/merge", enabled: enabled)
    }

    static func delete(_ href: String, name: String) -> Action {
        let confirm = Confirmation(message: "Delete “\(name)”? This cannot be undone.", buttons: ["Delete", "Cancel"])
        return Action(id: "delete", title: "Delete", method: "DELETE", href: href, confirm: confirm)
    }

    /// The actions of the reader.
    static func reader(_ document: Document) -> [Action] {
        let href = DocumentProperties.href(document.id)
        return [
            .share(href),
            Action(id: "save", title: "Save", method: "POST", href: "\(href)/save", enabled: document.isDraft),
            .rename(href),
            Action(id: "add-text", title: "Add text", method: "POST", href: "\(href)/pages"),
            Action(
                id: "reorder",
                title: "Reorder pages",
                method: "PUT",
                href: "\(href)/pages/order",
                enabled: document.pages.count > 1
            ),
            Action(id: "extract", title: "Extract pages", method: "POST", href: "\(href)/extract"),
            .delete(href, name: document.name),
        ]
    }
}
