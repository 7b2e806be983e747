package import Concurrency
package import Foundation
package import HTTPTypes

/// The trash of an app: its address, and the actions on it and its items.
package struct Trash: Sendable {
    fileprivate let app: String
    /// Its path; below it are the items by their identities.
    fileprivate let path: String
    package let screen: String
    /// Its items over all pages.
    fileprivate let list: PagedList
    fileprivate let emptyState: EmptyState

    /// - Parameters:
    ///   - key: The types of the values that its items are ordered by.
    ///   - hint: The text of the screen without items.
    ///   - button: The button there.
    package init(of app: String, key: [CursorValue.Kind], hint: Text, button: Text) {
        self.app = app
        path = "/v1/\(app)/trash"
        screen = "\(app).trash"
        list = PagedList(screen, key: key)
        emptyState = EmptyState(title: .trashIsEmpty, text: hint, button: button)
    }

    /// Address of its screen.
    package var href: Link { Link(encoded: path) }

    /// Shows the trash, from the list.
    package var show: Action { .show("trash", .trash, href) }

    /// Restores an item right after its deletion.
    package func undo(_ identity: String) -> Action {
        Action(id: "undo", title: .undo, method: "POST", href: "\(href)/\(identity)/restore")
    }

    fileprivate func restore(_ identity: String) -> Action {
        Action(id: "restore", title: .restore, method: "POST", href: "\(href)/\(identity)/restore")
    }

}

extension ScreenForm.Label {
    /// The members that all trashes have.
    package static let ofTrash = [
        ScreenForm.Label("deleted_text"), ScreenForm.Label("expires_text"), ScreenForm.Label("count_text"),
    ]
}

extension Action {
    /// Returns the action that permanently deletes an item of a trash.
    package static func purge(_ href: Link, disabled reason: Text? = nil) -> Action {
        let confirm = Confirmation(message: .confirmPurge, buttons: [.deleteForGood, .cancel])
        return Action(
            id: "purge",
            title: .deleteForGood,
            method: "DELETE",
            href: href,
            disabled: reason,
            confirm: confirm
        )
    }

    /// Returns the action that permanently deletes all items of a trash.
    package static func emptyTrash(_ href: Link, isEmpty: Bool, disabled reason: Text? = nil) -> Action {
        Action(
            id: "empty",
            title: .emptyTrash,
            method: "DELETE",
            href: href,
            disabled: isEmpty ? .trashIsEmpty : reason,
            confirm: .init(message: .confirmEmptyingTrash, buttons: [.emptyTrash, .cancel])
        )
    }
}

package struct TrashEntry<Item: Sendable>: Sendable {
    package let item: Item
    let version: Int
    let deleted: Date

    package init(_ item: Item, version: Int, deleted: Date) {
        (self.item, self.version, self.deleted) = (item, version, deleted)
    }
}

/// The trash of the accounts or profiles of an app: lists the items and deletes them permanently. Restoring them, which
/// shows a screen of the app, is left to the app.
package protocol TrashFeature: Sendable {
    /// An account or a profile.
    associatedtype Owner: Hashable & Sendable
    associatedtype Item: Sendable
    /// The members of a row that differ from app to app.
    associatedtype Properties: Encodable & Identifiable<String> & Sendable

    static var trash: Trash { get }
    var events: EventStream { get }
    /// How long an item stays in the trash.
    var lifetime: Duration { get }

    /// Brings the stored items up to date.
    ///
    /// - Returns: The notification that they may be out of date; nil if they are not.
    func catchUp() async throws -> Banner?

    func audience(of owner: Owner) -> ServerEvent.Audience
    func changeToken(of owner: Owner) -> ChangeToken

    /// Returns a page of the trash, the last deleted item first, and the revision; read in one transaction.
    func page(_ request: PageRequest, of owner: Owner) throws -> (page: ListPage<TrashEntry<Item>>, revision: Int)

    func properties(of item: Item) -> Properties

    /// Returns times as text, and how long these texts are true.
    func texts(in zone: TimeZone) -> (text: (Date) -> Text, changeToken: ChangeToken)

    /// Deletes an item permanently.
    ///
    /// - Returns: The new revision; nil if the trash has no such item.
    /// - Throws: ``Problem`` 412 `precondition-failed`; `StorageError`.
    func purge(_ id: String, _ preconditions: WritePreconditions, of owner: Owner) async throws -> Int?

    /// Deletes items permanently, those first that were deleted first, and no more than one transaction may.
    ///
    /// - Parameters:
    ///   - most: The most items.
    ///   - time: Items that were deleted later stay.
    ///   - preconditions: Compared with the revision.
    /// - Returns: Their number, and the revision.
    /// - Throws: ``Problem`` 412 `precondition-failed`; `StorageError`.
    func purge(_ most: Int, upTo time: Date, _ preconditions: WritePreconditions, of owner: Owner) async throws
        -> (count: Int, revision: Int)

    /// Returns the owner of the item that was deleted first; nil if none was up to a time.
    func owner(ofItemsUpTo time: Date) async throws -> Owner?

    /// The problem that there is no such item.
    var notFound: Problem { get }
}

extension TrashFeature {
    /// Nothing to bring up to date.
    package func catchUp() async throws -> Banner? { nil }

    /// Returns the routes of the trash, other than the one that restores an item.
    ///
    /// - Parameter route: Creates a route that passes the owner to a handler.
    package static func routes<Served: App>(
        _ route: (HTTPRequest.Method, String, @escaping TrashHandler) -> AppRoute<Served>
    ) -> [AppRoute<Served>] {
        [
            route(.get, trash.path, list).query(.page, "tz"),
            route(.delete, trash.path, empty),
            route(.delete, "\(trash.path)/{id}", purge).answering(),
        ]
    }

    /// Responds to a request for the trash of an owner.
    package typealias TrashHandler = @Sendable (Self) -> (ScreenRequest, Owner) async throws -> ScreenResponse

    @Sendable private func list(_ request: ScreenRequest, _ owner: Owner) async throws -> ScreenResponse {
        let zone = try request.query.timeZone() ?? .gmt
        let list = Self.trash.list
        let asked = try request.query.page(of: list)
        let changeToken = changeToken(of: owner)
        let banner = try await catchUp()
        let (page, revision) = try page(asked, of: owner)
        let (texts, count) = (texts(in: zone), page.total ?? 0)
        let items = page.rows.map { entry in
            TrashScreen.Row(properties(of: entry.item), entry, Self.trash, lifetime: lifetime, texts.text)
        }
        let response = try ScreenResponse.local(
            TrashScreen(Self.trash, items, count: count),
            Self.trash.screen,
            request,
            state: count == 0 ? .empty : .content,
            revision: revision,
            stale: banner,
            page: list.part(page, of: asked),
            changeToken: changeToken.and(texts.changeToken)
        ).at(version: revision)
        return varied(response, by: owner)
    }

    @Sendable private func purge(_ request: ScreenRequest, _ owner: Owner) async throws -> ScreenResponse {
        let id = try request.parameter("id")
        let notFound = notFound
        let (revision, response) = try await request.answering { (revision: Int?) in
            guard let revision else { throw notFound }
            return try purged(1, of: owner, revision, request)
        } to: {
            try await purge(id, request.writePreconditions(), of: owner)
        }
        if let revision { publish(revision, of: owner) }
        return response
    }

    @Sendable private func empty(_ request: ScreenRequest, _ owner: Owner) async throws -> ScreenResponse {
        _ = try await catchUp()
        let newest = try page(PageRequest(limit: 1), of: owner).page
        let end = newest.rows.first?.deleted ?? .distantPast
        let result = try await purge(all: newest.total ?? 0, upTo: end, request.writePreconditions(), of: owner)
        return try purged(result.count, of: owner, result.revision, request)
    }

    /// Permanently deletes items in as many transactions as they need. Items that are deleted meanwhile are kept.
    private func purge(
        all most: Int,
        upTo time: Date,
        _ preconditions: WritePreconditions = .none,
        of owner: Owner
    ) async throws -> (count: Int, revision: Int) {
        var (count, preconditions) = (0, preconditions)
        while true {
            let (purged, revision) = try await purge(most - count, upTo: time, preconditions, of: owner)
            (count, preconditions) = (count + purged, .none)
            guard purged == 0 || count == most else { continue }
            if count > 0 { publish(revision, of: owner) }
            return (count, revision)
        }
    }

    private func purged(_ count: Int, of owner: Owner, _ revision: Int, _ request: ScreenRequest) throws
        -> ScreenResponse
    {
        let (screen, href) = (Self.trash.screen, Self.trash.href)
        let content = PurgeScreen(removed: count, revision: revision, route: ScreenLink(screen, href))
        let response = try ScreenResponse.local(content, screen, request, revision: revision, selfLink: href)
        return varied(response, by: owner)
    }

    /// Returns a response with `Larder-Profile` in `Vary`, if the trash is that of a profile.
    private func varied(_ response: ScreenResponse, by owner: Owner) -> ScreenResponse {
        if case .profile = audience(of: owner) { response.byProfile() } else { response }
    }

    /// Permanently deletes the expired items.
    ///
    /// - Returns: Their number.
    @Sendable package func purgeDue(at now: Date) async throws -> Int {
        let time = now.addingTimeInterval(-lifetime.seconds)
        var count = 0
        while let owner = try await self.owner(ofItemsUpTo: time) {
            let purged = try await purge(all: .max, upTo: time, of: owner).count
            guard purged > 0 else { break }
            count += purged
        }
        return count
    }

    private func publish(_ revision: Int, of owner: Owner) {
        events.publish([Self.trash.screen], of: Self.trash.app, revision, to: audience(of: owner))
    }
}

/// `GET /v1/APP/trash`.
struct TrashScreen<Properties: Encodable & Identifiable<String> & Sendable>: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var properties: Properties
        let deletedAt: Date
        let deletedText: Text
        /// When it is deleted permanently.
        let expiresAt: Date
        let expiresText: Text
        /// `If-Match` of its actions may name it.
        let version: Int
        let actions: [Action]

        init<Item>(
            _ properties: Properties,
            _ entry: TrashEntry<Item>,
            _ trash: Trash,
            lifetime: Duration,
            _ text: (Date) -> Text
        ) {
            self.properties = properties
            deletedAt = entry.deleted
            deletedText = .deleted(text(entry.deleted))
            expiresAt = entry.deleted.addingTimeInterval(lifetime.seconds)
            expiresText = .keptUntil(text(expiresAt))
            version = entry.version
            actions = [trash.restore(properties.id), .purge("\(trash.href)/\(properties.id)")]
        }
    }

    let items: [Row]
    let count: Int
    let countText: Text
    let actions: [Action]
    let empty: EmptyState?

    init(_ trash: Trash, _ items: [Row], count: Int) {
        self.items = items
        self.count = count
        countText = .inTrash(count)
        actions = [.emptyTrash(trash.href, isEmpty: count == 0)]
        empty = count == 0 ? trash.emptyState : nil
    }
}

/// `DELETE /v1/APP/trash`, and of one item in it.
struct PurgeScreen: Encodable, Sendable {
    /// Number of permanently deleted items.
    let removed: Int
    let revision: Int
    let route: ScreenLink
}

/// The response to a deletion that can be undone.
package struct DeletionScreen: Encodable, Sendable {
    let id: String
    let revision: Int
    /// The next screen of the app; absent if the app has none.
    let route: ScreenLink?
    /// Restores the item; empty if it was deleted permanently.
    let actions: [Action]

    package init(id: String, revision: Int, route: ScreenLink? = nil, actions: [Action]) {
        (self.id, self.revision, self.route, self.actions) = (id, revision, route, actions)
    }
}
