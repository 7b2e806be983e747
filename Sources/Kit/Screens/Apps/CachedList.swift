import Foundation
import HTTPTypes
package import Storage
import Upstream

/// An item of a list of an API, in the form that an app shows (docs/your-own-app.md).
///
/// Its members are stored, and sent as `values` of its row and of its screen.
package protocol ListedItem: Codable, Sendable, SendableMetatype {
    /// Identifies it in the list, and in the path of its screen.
    var id: String { get }
    var name: Text { get }
    /// One line for its row in the list, and for its screen. Default: empty.
    var summary: Text { get }
    /// The other lines of its screen. Default: none.
    var facts: [Fact] { get }
}

extension ListedItem {
    package var summary: Text { "" }
    package var facts: [Fact] { [] }
}

/// A line of a screen.
package struct Fact: Encodable, Sendable {
    let title: Text
    let text: Text

    package init(_ title: Text, _ text: Text) { (self.title, self.text) = (title, text) }
}

/// A list that an app fetches with one request: its API, its freshness time, and the items of a response.
package struct CachedList<Item: ListedItem>: Sendable {
    package enum Order: Sendable {
        /// That of the API.
        case listed
        /// By name, in the language of the app.
        case byName
    }

    package let upstream: UpstreamDescription
    let path: String
    let order: Order
    let freshness: Setting<Duration>
    let items: @Sendable (Data) throws -> [Item]

    /// Describes a list that is made of one response.
    ///
    /// - Parameters:
    ///   - path: Path and query below the address of the upstream.
    ///   - freshness: The default of the setting `freshness.{upstream}_s`.
    ///   - items: Returns the items of a response. If it throws, the response is unusable and replaces no good copy.
    package init<Document: Decodable & SendableMetatype>(
        of upstream: UpstreamDescription,
        at path: String,
        fresh freshness: Duration = .seconds(60),
        order: Order = .byName,
        items: @escaping @Sendable (Document) throws -> [Item]
    ) {
        self.upstream = upstream
        self.path = path
        self.order = order
        self.freshness = Setting(
            "freshness.\(upstream.name)_s",
            .seconds(0...31_536_000),
            default: freshness,
            "freshness time of the list of \(upstream.title)"
        )
        self.items = { try items(JSONDecoder().decode(Document.self, from: $0)) }
    }

    /// Describes a list that the API sends as an array of the items. Those of another form are left out.
    package init(
        of upstream: UpstreamDescription,
        at path: String,
        fresh freshness: Duration = .seconds(60),
        order: Order = .byName
    ) {
        self.init(of: upstream, at: path, fresh: freshness, order: order) { (list: TolerantList<Item>) in
            let items = list.values.compactMap(\.self)
            guard !items.isEmpty || list.values.isEmpty else { throw UnusableResponse("a list without a usable row") }
            return items
        }
    }

    /// Returns the items of a response that have a usable id. Of items with the same id, the first one counts.
    ///
    /// - Throws: ``UnusableResponse``.
    func items(of body: Data) throws(UnusableResponse) -> [Item] {
        let items: [Item]
        do {
            items = try self.items(body)
        } catch let error as UnusableResponse {
            throw error
        } catch {
            throw UnusableResponse("not a list of \(Item.self)")
        }
        guard items.count <= ListLimit.elements else { throw UnusableResponse("a list that is too long") }
        var seen: Set<String> = []
        // Compared by their bytes, as the database does: an id in another Unicode form has no address.
        return items.filter { item in
            ItemPaths.identity(item.id).map { $0.utf8.elementsEqual(item.id.utf8) } == true
                && seen.insert(item.id).inserted
        }
    }
}

/// An app that shows one list of an API: the list, a search in it, and a screen for each item. Its table, offline
/// copies, events, changes since a revision, routes and setting are made from ``list``.
package protocol ListApp: App {
    associatedtype Item: ListedItem
    static var list: CachedList<Item> { get }
    var screens: ListScreens<Item> { get }
}

extension ListApp {
    package static var upstreams: [UpstreamDescription] { [list.upstream] }
    package static var settings: [any SettingDeclaration] { [list.freshness] }
    package static var migrations: [SchemaMigration] { [CachedListStore<Item>.migration(of: name)] }
    package static var records: [RecordTable] { [CachedListStore<Item>.record(of: name)] }
    /// The two routes; the members of an item are any (docs/contract-source.md).
    package static var contract: String { ListContract.text(of: name, title: title.english) }

    /// The list, and the screen of an item.
    package static var routes: [AppRoute<Self>] {
        [
            Route(.get, "/v1/\(name)", "\(name).list", { $0.screens.show })
                .query(.page, "q", "since_revision", "refresh"),
            Route(.get, "/v1/\(name)/{id}", "\(name).item", { $0.screens.showItem }).query("refresh"),
        ]
    }

    /// Makes the rows of the stored response again, since this build may have another form of an item.
    ///
    /// - Throws: `StorageError`.
    package func prepare() async throws { try await screens.restore() }
    package func upstreamRecovered(_ upstream: UpstreamDescription) async { await screens.refreshAfterRecovery() }
}

/// The text from which the contract of a list's routes is made.
private enum ListContract {
    static func text(of app: String, title: String) -> String {
        let schema = app.prefix(1).uppercased() + app.dropFirst()
        return routes(of: app, title: title, schema) + "\n" + schemas(of: app, schema)
    }

    private static func routes(of app: String, title: String, _ schema: String) -> String {
        """
        tags:
          - {name: \(app), description: '\(title.replacing("'", with: "''")).'}
        routes:
          /v1/\(app):
            get:
              id: list\(schema)
              summary: List the rows
              description: >-
                `q` selects rows whose names have all of its words. `data.changes` has the ids that changed since
                `since_revision`, or since the revision before the present one.
              returns: {'200': {description: The list., screen: \(schema)List}}
              meta: {revision: 2}
              problems: [upstream, -store-unavailable]
          /v1/\(app)/{id}:
            get:
              id: get\(schema)
              summary: Get a row
              description: With all of its lines.
              returns: {'200': \(schema)Item}
              problems: [upstream, -store-unavailable]
        """
    }

    private static func schemas(of app: String, _ schema: String) -> String {
        """
        parameters:
          \(schema)ItemId: {name: id, in: path, required: true, schema: {type: string}, example: one,
            description: 'Id of a row, as in the list.'}
          \(schema)Query: {name: q, in: query, schema: {type: string}, example: one,
            description: 'Words of a name, in any case and order.'}
          \(schema)SinceRevision: {name: since_revision, in: query,
            schema: {type: integer, minimum: 0, maximum: 9223372036854775807},
            description: 'Revision from which `data.changes` counts. If it is unknown, all rows count as added.'}
        schemas:
          \(schema)ListData:
            $list: true
            items: [\(schema)Row]
            revision: {type: integer, minimum: 0, example: 2, description: For `since_revision`.}
            changes: ListChanges
            empty?: Empty
          \(schema)Row:
            id: {type: text, example: one}
            name: {type: text, example: One}
            summary_text: string
            values: {type: object, description: The members of the item.}
            href: {type: uri, example: /v1/\(app)/one}
          \(schema)ItemData:
            id: {type: text, example: one}
            name: {type: text, example: One}
            summary_text: string
            facts: [\(schema)Fact]
            values: {type: object, description: The members of the item.}
          \(schema)Fact:
            title: {type: text, example: Size}
            text: {type: text, example: '1'}
        """
    }
}
