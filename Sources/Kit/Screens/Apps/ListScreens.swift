import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Logging
import Storage
import Upstream

/// The screens of a ``CachedList``: `GET /v1/{app}` with pages, search and changes, and `GET /v1/{app}/{id}`.
package struct ListScreens<Item: ListedItem>: Sendable {
    private let app: String
    private let list: CachedList<Item>
    private let upstream: Upstream
    private let resource: Resource
    private let store: CachedListStore<Item>
    private let events: EventStream
    private let paths: ItemPaths
    private let clock: WallClock
    private let logger: Logger

    /// - Parameter app: The app that has the list.
    /// - Throws: `MissingUpstream`.
    package init<App: ListApp>(of app: App.Type, _ context: AppContext) throws where App.Item == Item {
        let (name, list) = (App.name, App.list)
        let store = CachedListStore<Item>(of: name, context.database, order: list.order, clock: context.clock)
        upstream = try context.upstream(list.upstream)
        (self.app, self.list, self.store, events) = (name, list, store, context.events)
        (clock, logger) = (context.clock, context.logger)
        paths = ItemPaths("/v1/\(name)")
        resource = Resource(
            url: upstream.configuration.url(of: list.path),
            headerFields: [.accept: "application/json"],
            freshness: context.settings[list.freshness],
            isSourceOfRows: true
        ) { [events] response throws(UpstreamError) in
            try response.usable { body throws(UnusableResponse) in
                try store.persistRows(of: try list.items(of: body)) { revision in
                    events.publish(
                        .screenChanged(app: name, screen: "\(name).list", revision: revision, audience: .everyone)
                    )
                }
            }
        }
    }

    @Sendable func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let text = try request.query.string("q") ?? ""
        let words = text.searchFolded.split(whereSeparator: \.isWhitespace).prefix(WordQuery.mostWords).map(String.init)
        let pages = PagedList("\(app).list", filter: words.joined(separator: " "), key: [.integer, .text, .text])
        let wanted = try request.query.page(of: pages)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let (result, page) = try await read(request) { try store.pageOrVariant($0, wanted, words: words, since: since) }
        let isEmpty = page.items.total == 0
        return try .read(
            ListScreen(page, at: paths, empty: isEmpty ? .noRows(at: "/v1/\(app)", isSearch: !words.isEmpty) : nil),
            "\(app).list",
            request,
            of: result,
            now: clock.now(),
            state: isEmpty ? .empty : .content,
            revision: page.revision,
            banner: result.provenance.offline ? .listOffline : nil,
            page: pages.part(page.items, of: wanted),
            variant: page.variant,
            changeToken: ChangeToken(of: store.contentChanges)
        )
    }

    @Sendable func showItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let segment = try request.parameter("id")
        guard let id = paths.id(in: segment) else { throw Problem.notFound(.noRow(segment)) }
        let (result, item) = try await read(request) { try store.item(id, $0) }
        guard let item else { throw Problem.notFound(.noRow(id)) }
        return try .read(
            ItemScreen(item),
            "\(app).item",
            request,
            of: result,
            now: clock.now(),
            banner: result.provenance.offline ? .listOffline : nil,
            changeToken: ChangeToken(of: store.contentChanges)
        )
    }

    /// Brings the rows up to date and reads some of them; if the API need not be asked, in one transaction with their
    /// age.
    private func read<Rows>(_ request: ScreenRequest, _ rows: (Database) throws -> Rows) async throws -> (
        ReadResult, Rows
    ) {
        let cachePolicy = try request.cachePolicy()
        let token = upstream.readToken(of: resource.url)
        let (planned, stored) = try store.database.read { db -> (PlannedRead, (ReadResult, Rows)?) in
            let planned = try upstream.plannedRead(of: resource, cachePolicy, since: token, in: db)
            return (planned, try upstream.storedResult(of: planned).map { ($0, try rows(db)) })
        }
        if let stored { return stored }
        let result = try await upstream.reportingFailures {
            try await upstream.read(resource, cachePolicy, planned: planned)
        }
        return (result, try store.database.read(rows))
    }

    /// Makes the rows of the stored response again: the program's form of an item may have changed since.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func restore() async throws {
        let stored: CachedResponse?
        do {
            stored = try await upstream.read(resource, .onlyIfCached).response
        } catch is UpstreamError {
            return  // Nothing is stored.
        }
        guard let response = stored, let body = try await upstream.body(of: response) else { return }
        let rows = try? store.columns(of: list.items(of: body))
        try await store.database.write { db in
            guard let rows else {
                // The response is removed too: if the API confirmed it, the list would stay empty.
                try upstream.store.responses.remove(upstream: list.upstream.name, url: resource.url, in: db)
                return try store.removeAll(db)
            }
            _ = try store.merge(rows, db)
        }
    }

    /// A failure is logged and not retried: the upstream's health knows of it, and the next recovery calls this again.
    func refreshAfterRecovery() async {
        do {
            _ = try await upstream.read(resource, .revalidate)
        } catch {
            logger.warning("\(app): the list could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
    }
}

/// `GET /v1/{app}`.
private struct ListScreen<Item: ListedItem>: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: Text
        let summaryText: Text
        let values: Item
        let href: Link
    }

    let items: [Row]
    let revision: Int
    let changes: ListChanges
    let empty: EmptyState?

    init(_ page: CachedListStore<Item>.Page, at paths: ItemPaths, empty: EmptyState?) {
        items = page.items.rows.map {
            Row(id: $0.id, name: $0.name, summaryText: $0.summary, values: $0, href: paths.link(to: $0.id))
        }
        (revision, changes, self.empty) = (page.revision, page.changes, empty)
    }
}

/// `GET /v1/{app}/{id}`.
private struct ItemScreen<Item: ListedItem>: Encodable, Sendable {
    let id: String
    let name: Text
    let summaryText: Text
    let facts: [Fact]
    let values: Item

    init(_ item: Item) {
        (id, name, summaryText, facts, values) = (item.id, item.name, item.summary, item.facts, item)
    }
}

extension Text {
    fileprivate static func noRow(_ id: String) -> Text { Text("There is no \(id).", ru: "\(id): такого нет.") }
    fileprivate static let noRows = Text("Nothing here yet", ru: "Здесь пока ничего нет")
    fileprivate static let nothingFound = Text("Nothing found", ru: "Ничего не найдено")
    fileprivate static let showAll = Text("Show all", ru: "Показать все")
}

extension EmptyState {
    fileprivate static func noRows(at list: Link, isSearch: Bool) -> EmptyState {
        EmptyState(
            title: isSearch ? .nothingFound : .noRows,
            text: "",
            action: isSearch
                ? .show("show_all", .showAll, list) : .show("refresh", .refresh, list.query("refresh", "1"))
        )
    }
}

extension Banner {
    fileprivate static let listOffline = Banner(
        code: "offline",
        text: Text("No connection. The stored copy is shown.", ru: "Нет связи. Показана сохранённая копия."),
        dismissal: .online
    )
}
