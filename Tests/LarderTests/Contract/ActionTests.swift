import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Larder

/// The actions of responses let a front end act and navigate without building an address or a body.
@Suite("Actions and routes of responses")
struct ActionTests {
    /// A request that a response names.
    private struct Named: Hashable {
        let screen: String?
        let method: String
        let href: String
        /// Members of the body, constant and filled in.
        let members: Set<String>
        let required: Set<String>
    }

    /// All objects of a JSON value that have all of some members.
    private func objects(with names: [String], in value: JSON) -> [JSON] {
        if let items = value.array { return items.flatMap { objects(with: names, in: $0) } }
        guard let object = value.object else { return [] }
        return (names.allSatisfy { object[$0] != nil } ? [value] : [])
            + object.values.flatMap { objects(with: names, in: $0) }
    }

    private func named(with names: [String]) async throws -> Set<Named> {
        var found: Set<Named> = []
        for observation in try await Conversation.observations()
        where observation.response.headers["content-type"]?.hasPrefix("application/json") == true
            && !observation.isHead && observation.operation != "GET /v1"
        {
            let data = try observation.response.json["data"]
            for object in data.map({ objects(with: names, in: $0) }) ?? [] {
                let fields = object["fields"]?.array ?? []
                let constants = Set((object["body"]?.object ?? [:]).keys)
                found.insert(
                    Named(
                        screen: object["screen"]?.string,
                        method: object["method"]?.string ?? "",
                        href: object["href"]?.string ?? "",
                        members: constants.union(fields.compactMap { $0["name"]?.string }),
                        required: constants.union(
                            fields.filter { $0["required"] == .bool(true) }.compactMap { $0["name"]?.string }
                        )
                    )
                )
            }
        }
        return found
    }

    /// The operation that a target belongs to: of those that fit, the one with the fewest parameters.
    private func owner(of href: String, _ method: String, in document: OpenAPIDocument) -> Operation? {
        let path = href.prefix { $0 != "?" }.split(separator: "/")
        return document.operations.filter { operation in
            let pattern = operation.path.split(separator: "/")
            return operation.method == method && pattern.count == path.count
                && zip(pattern, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.min { $0.pathParameters.count < $1.pathParameters.count }
    }

    @Test("HARN-29 Every action names an operation and all members of its body that the operation requires")
    func actions() async throws {
        let document = try OpenAPIDocument.load()
        let actions = try await named(with: ["id", "title", "method", "href", "enabled"])
        #expect(actions.count > 20)
        for action in actions {
            let operation = try #require(
                owner(of: action.href, action.method, in: document),
                "\(action.method) \(action.href)"
            )
            guard let content = operation.value["requestBody"]?["content"]?.object else {
                #expect(action.members.isEmpty, "\(action)")
                continue
            }
            let fits = try content.values.contains { type in
                let schema = try type["schema"].map(document.resolved)
                let known = Set((schema?["properties"]?.object ?? [:]).keys)
                let required = Set((schema?["required"]?.array ?? []).compactMap(\.string))
                return action.members.isSubset(of: known) && required.isSubset(of: action.required)
            }
            #expect(fits, "\(action)")
        }
    }

    /// Writes without an action: uploaded contents are not JSON, and the others serve tests or other apps.
    private static let withoutAction: Set = [
        "DELETE /v1/disk/onboarding", "PUT /v1/disk/file/content", "POST /v1/disk/files/batch",
        "POST /v1/pdf/documents/from-disk", "POST /v1/pdf/documents/{id}/save-to-disk",
    ]

    @Test("HARN-29 What people can change is offered by an action of some screen")
    func offered() async throws {
        let document = try OpenAPIDocument.load()
        let actions = try await named(with: ["id", "title", "method", "href", "enabled"])
        let offered = Set(actions.compactMap { owner(of: $0.href, $0.method, in: document)?.key })
        let apps = ["disk", "shop", "pdf", "ships", "notes"]
        let writes = document.operations.filter { operation in
            operation.method != "GET" && operation.method != "HEAD"
                && apps.contains { operation.path.hasPrefix("/v1/\($0)") }
        }
        #expect(Set(writes.map(\.key)).subtracting(offered) == Self.withoutAction)
    }

    @Test("HARN-29 The fields of an action have the present values")
    func values() async throws {
        try await withLarder { larder in
            var fields = ["Content-Type": "application/json"]
            let login = #"{"mode":"register","username":"ann","password":"secret"}"#
            let opened = try await larder.send("POST", "/v1/notes/session", fields, body: login)
            fields["Authorization"] = "Bearer \(try #require(opened.json.at(pointer: "/data/token")?.string))"
            let note = try await larder.send(
                "POST",
                "/v1/notes",
                fields,
                body: #"{"body":"Fog","location":{"lat":1.5,"lon":-2,"name":"Pier"}}"#
            )
            let save = try #require(try note.json.at(pointer: "/data/actions/0/fields")?.array)
            #expect(save.first?["value"]?.string == "Fog")
            #expect(save.last?["location"]?["name"]?.string == "Pier")
        }
    }

    @Test("Every screen that a launch, a session or a deletion sends the app to is in the index, with its method")
    func routes() async throws {
        let document = try OpenAPIDocument.load()
        let routes = try await named(with: ["screen", "method", "href"])
        #expect(Set(routes.compactMap { $0.screen?.prefix { $0 != "." } }).count == 5)
        try await withLarder { larder in
            let table = larder.application.table.routes
            for route in routes {
                let operation = try #require(owner(of: route.href, route.method, in: document), "\(route)")
                #expect(
                    table.contains {
                        "\($0.method.rawValue) \($0.path)" == operation.key && $0.screen == route.screen
                    },
                    "\(route)"
                )
            }
        }
    }
}

@Suite("Links of responses")
struct LinkTests {
    /// The ids of all pages from a first one on, by following `links.next`.
    private func ids(from first: String, _ larder: InProcessLarder, _ member: [String: String]) async throws -> [String]
    {
        var ids: [String] = []
        var next: String? = first
        while let path = next {
            let response = try await larder.send("GET", path, member)
            try #require(response.status == 200, "\(path): \(response.text)")
            let page = try response.json
            ids += (page.at(pointer: "/data/items")?.array ?? []).compactMap { $0["id"]?.string }
            next = page.at(pointer: "/links/next")?.string
        }
        return ids
    }

    @Test("SRV-06 The next links lead through the whole list, each ship once, in order, and keep other parameters")
    func pages() async throws {
        try await withLarder(["--upstreams-spacex-patience-ms", "60000"]) { larder in
            let member = try await ContractScenario(larder: larder, transcript: RecordedExchanges()).session()
            let whole = try await ids(from: "/v1/ships", larder, member)
            #expect(whole.count > 10 && Set(whole).count == whole.count)
            #expect(try await ids(from: "/v1/ships?limit=7", larder, member) == whole)
            #expect(try await ids(from: "/v1/ships?since_revision=1&offset=0&limit=4", larder, member) == whole)
            let encoded = try await larder.send("GET", "/v1/ships?%6cimit=7", member).json
            let second = try await larder.send("GET", try #require(encoded.at(pointer: "/links/next")?.string), member)
            #expect(second.status == 200, "\(second.text)")
        }
    }

    @Test(
        "SRV-06 The self link of a response can be requested as it is",
        arguments: ["/v1/shop/history?q=%22", #"/v1/shop/history?q="<|>"#, "//v1/ships/launch"]
    )
    func own(target: String) async throws {
        let document = try OpenAPIDocument.load()
        let links = try #require(document.root.at(pointer: "/components/schemas/Links"))
        try await withLarder(["--upstreams-spacex-patience-ms", "60000"]) { larder in
            let raw = try await larder.raw("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let own = raw.status == 200 ? try raw.json["links"] : nil
            let violations = try own.map { try document.validator.violations(of: $0, schema: links) } ?? []
            #expect(violations == [], "\(target)")
            #expect((raw.status == 200) == !target.hasPrefix("//"), "everything has one address")
        }
    }
}
