import Screens

extension Action {
    static func share(_ href: Link) -> Action {
        Action(id: "share", title: .share, method: "GET", href: "\(href)/file")
    }

    static func rename(_ href: Link, name: String) -> Action {
        Action(id: "rename", title: .rename, method: "PATCH", href: href, fields: [Field("name", .text, value: name)])
    }

    static func merge(enabled: Bool) -> Action {
        Action(
            id: "merge",
            title: .merge,
            method: "POST",
            href: "/v1/pdf/merge",
            fields: [Field("first", .document), Field("second", .document), Field("name", .text, required: false)],
            enabled: enabled
        )
    }

    static func delete(_ href: Link, name: String) -> Action {
        let confirm = Confirmation(message: .confirmDeletion(of: name), buttons: [.delete, .cancel])
        return Action(id: "delete", title: .delete, method: "DELETE", href: href, confirm: confirm)
    }

    /// The actions of the reader.
    static func reader(_ document: Document) -> [Action] {
        let href = DocumentProperties.href(document.id)
        return [
            .share(href),
            .save(document, href),
            .rename(href, name: document.name),
            Action(
                id: "add-photos",
                title: .addPhotos,
                method: "POST",
                href: "\(href)/pages",
                fields: [Field("files", .files), .place]
            ),
            Action(
                id: "add-text",
                title: .addTextPages,
                method: "POST",
                href: "\(href)/pages",
                fields: [Field("text", .text), Field("locale", .text, required: false), .place]
            ),
            Action(
                id: "reorder",
                title: .reorderPages,
                method: "PUT",
                href: "\(href)/pages/order",
                fields: [Field("pages", .pages)],
                enabled: document.pages.count > 1
            ),
            .extract(href),
            .delete(href, name: document.name),
        ]
    }

    private static func save(_ document: Document, _ href: Link) -> Action {
        Action(
            id: "save",
            title: .save,
            method: "POST",
            href: "\(href)/save",
            fields: [Field("name", .text, value: document.name, required: false)],
            enabled: document.isDraft
        )
    }

    private static func extract(_ href: Link) -> Action {
        let fields = [Field("pages", .pages), Field("name", .text, required: false)]
        return Action(id: "extract", title: .extractPages, method: "POST", href: "\(href)/extract", fields: fields)
    }
}

extension Action.Field {
    /// The number that the first new page gets; the end without it.
    fileprivate static let place = Action.Field("at", .integer, required: false)
}
