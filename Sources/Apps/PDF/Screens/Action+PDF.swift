import Screens

extension Action {
    static func share(_ href: Link) -> Action {
        Action(id: "share", title: .share, method: "GET", href: "\(href)/file")
    }

    static func rename(_ href: Link, name: String) -> Action {
        Action(
            id: "rename",
            title: .rename,
            method: "PATCH",
            href: href,
            fields: [Field("name", .text, .name, value: name)]
        )
    }

    static func merge(canMerge: Bool, refusal: Text?) -> Action {
        Action(
            id: "merge",
            title: .merge,
            method: "POST",
            href: "/v1/pdf/merge",
            fields: [
                Field("first", .document, .firstDocument), Field("second", .document, .secondDocument),
                Field("name", .text, .name, required: false),
            ],
            disabled: canMerge ? refusal : .nothingToMerge
        )
    }

    /// Makes a draft of files.
    static func newDocument(disabled reason: Text?) -> Action {
        Action(
            id: "create",
            title: .newDocument,
            method: "POST",
            href: "/v1/pdf/documents",
            fields: [Field("files", .files, .files), .password],
            disabled: reason
        )
    }

    /// The actions on a page; the only one of a document cannot be deleted.
    static func ofPage(_ href: Link, isOnly: Bool, isUndoable: Bool) -> [Action] {
        let message: Text = isUndoable ? .confirmPageDeletion : .confirmPageErasure
        return [
            Action(id: "rotate", title: .rotate, method: "PATCH", href: href, body: ["rotate_by": .integer(90)]),
            Action(
                id: "delete",
                title: .delete,
                method: "DELETE",
                href: href,
                disabled: isOnly ? .lastPage : nil,
                confirm: Confirmation(message: message, buttons: [.delete, .cancel])
            ),
        ]
    }

    static func delete(_ href: Link, name: String, isDraft: Bool) -> Action {
        let message: Text = isDraft ? .confirmDiscarding(name) : .confirmDeletion(of: name)
        let confirm = Confirmation(message: message, buttons: [.delete, .cancel])
        return Action(id: "delete", title: .delete, method: "DELETE", href: href, confirm: confirm)
    }

    /// - Parameter refusal: Why nothing can be added; nil if there is room.
    static func reader(_ document: Document, refusal: Text?) -> [Action] {
        let (href, name, isDraft) = (DocumentProperties.href(document.id), document.name, document.isDraft)
        let first: [Action] = [.share(href), .save(href, name: name, isDraft: isDraft), .rename(href, name: name)]
        let last: [Action] = [
            .extract(href, disabled: refusal), .undo(href, document), .delete(href, name: name, isDraft: isDraft),
        ]
        return first + adding(href, disabled: refusal) + changingPages(href, document) + last
    }

    private static func adding(_ href: Link, disabled reason: Text?) -> [Action] {
        [
            Action(
                id: "add-photos",
                title: .addPhotos,
                method: "POST",
                href: "\(href)/pages",
                fields: [Field("files", .files, .files), .password, .place],
                disabled: reason
            ),
            Action(
                id: "add-text",
                title: .addTextPages,
                method: "POST",
                href: "\(href)/pages",
                fields: [Field("text", .text, .text), Field("locale", .text, .language, required: false), .place],
                disabled: reason
            ),
        ]
    }

    private static func changingPages(_ href: Link, _ document: Document) -> [Action] {
        [
            Action(
                id: "reorder",
                title: .reorderPages,
                method: "PUT",
                href: "\(href)/pages/order",
                fields: [Field("pages", .pages, .pages, values: document.pages.map(\.id))],
                disabled: document.pages.count > 1 ? nil : .nothingToReorder
            ),
            Action(
                id: "delete-pages",
                title: .deletePages,
                method: "POST",
                href: "\(href)/pages/delete",
                fields: [Field("pages", .pages, .pages)],
                disabled: document.pages.count > 1 ? nil : .lastPage
            ),
        ]
    }

    private static func undo(_ href: Link, _ document: Document) -> Action {
        Action(
            id: "undo",
            title: .undo,
            method: "POST",
            href: "\(href)/undo",
            headers: ["If-Match": "\"\(document.version)\""],
            disabled: document.canUndo ? nil : .nothingToUndo
        )
    }

    static func save(_ href: Link, name: String, isDraft: Bool) -> Action {
        Action(
            id: "save",
            title: .save,
            method: "POST",
            href: "\(href)/save",
            fields: [Field("name", .text, .name, value: name, required: false)],
            disabled: isDraft ? nil : .isSaved
        )
    }

    private static func extract(_ href: Link, disabled reason: Text?) -> Action {
        Action(
            id: "extract",
            title: .extractPages,
            method: "POST",
            href: "\(href)/extract",
            fields: [Field("pages", .pages, .pages), Field("name", .text, .name, required: false)],
            disabled: reason
        )
    }
}

extension Action.Field {
    /// That of PDFs which need one.
    fileprivate static let password = Action.Field("password", .password, .passwordOfFiles, required: false)
    /// The number that the first new page gets; the end without it.
    fileprivate static let place = Action.Field("at", .integer, .atPage, required: false)
}
