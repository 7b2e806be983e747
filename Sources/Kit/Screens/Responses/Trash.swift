/// The trash of an app: the actions that lead there, and those of what lies in it.
package struct Trash: Sendable {
    /// Address of its screen.
    private let href: Link

    /// Creates the trash whose screen has this address; below it are the things by their identities.
    package init(_ href: Link) { self.href = href }

    /// The way from the list to the trash.
    package var show: Action { .show("trash", .trash, href) }

    /// Takes back a deletion, right after it.
    package func undo(_ identity: String) -> Action {
        Action(id: "undo", title: .undo, method: "POST", href: "\(href)/\(identity)/restore")
    }

    /// Takes a thing out of the trash.
    package func restore(_ identity: String) -> Action {
        Action(id: "restore", title: .restore, method: "POST", href: "\(href)/\(identity)/restore")
    }

    /// Deletes a thing for good.
    package func purge(_ identity: String) -> Action {
        Action(
            id: "purge",
            title: .deleteForGood,
            method: "DELETE",
            href: "\(href)/\(identity)",
            confirm: .init(message: .confirmPurge, buttons: [.deleteForGood, .cancel])
        )
    }

    /// Deletes everything in the trash for good.
    ///
    /// - Parameter isEnabled: Whether anything is in it.
    package func empty(isEnabled: Bool) -> Action {
        Action(
            id: "empty",
            title: .emptyTrash,
            method: "DELETE",
            href: href,
            disabled: isEnabled ? nil : .trashIsEmpty,
            confirm: .init(message: .confirmEmptyingTrash, buttons: [.emptyTrash, .cancel])
        )
    }
}
