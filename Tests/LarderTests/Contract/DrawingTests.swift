import TestKit
import Testing

@testable import Larder
@testable import Screens

/// A front end draws every screen from its response alone (docs/contract.md, "Drawing a screen").
@Suite("Screens without a dictionary")
struct DrawingTests {
    /// Texts that say the same as another member, or are drawn as a part of something else.
    private static let repeated: Set = ["status_text", "failure_text", "share_text", "modified_text", "price_text"]
    /// Empty states are drawn by themselves, the searched filters by their own screen.
    private static let undrawn: Set = ["empty", "task", "query"]
    private static let apps: Set = ["disk", "shop", "pdf", "ships", "notes"]

    /// The screens of all apps that the conversation has seen, with their labels and content.
    private func screens() async throws -> [(name: String, labels: Set<String>, meta: JSON, data: JSON)] {
        try await Conversation.observations().compactMap { observation in
            guard observation.response.headers["content-type"]?.hasPrefix("application/json") == true,
                !observation.isHead, let name = try observation.response.json.at(pointer: "/meta/screen")?.string,
                Self.apps.contains(String(name.prefix { $0 != "." }))
            else { return nil }
            let (meta, data) = (try observation.response.json.meta, try observation.response.json.data)
            return (name, Set(meta.labels.elements.compactMap { $0["member"]?.string }), meta, data)
        }
    }

    /// The members of a value and of all values in it, except those of actions and empty states.
    private func members(of value: JSON) -> [(name: String, value: JSON)] {
        if let items = value.array { return items.flatMap(members) }
        guard let object = value.object, object["enabled"] == nil else { return [] }
        return object.filter { !Self.undrawn.contains($0.key) }.flatMap { name, value in
            [(name, value)] + members(of: value)
        }
    }

    @Test("ONE-05 Every screen has a title, and a label for each text of its content")
    func labels() async throws {
        let schemas = try OpenAPIDocument.load().root.at(pointer: "/components/schemas")?.object ?? [:]
        let known = Set(schemas.values.flatMap { ($0["properties"]?.object ?? [:]).keys })
        var seen: Set<String> = []
        for (name, labels, meta, data) in try await screens() {
            #expect(meta.title.string?.isEmpty == false && meta.title.string != name, "\(name)")
            #expect(labels.isSubset(of: known), "\(name)")
            for member in members(of: data) where member.name.hasSuffix("_text") && member.value.string != nil {
                let isLabelled = labels.contains(member.name) || Self.repeated.contains(member.name)
                #expect(isLabelled, "\(name): \(member.name)")
            }
            seen.insert(name)
        }
        #expect(seen.count > 25)
    }

    @Test("ONE-05 A main screen names the main screens of its app, each of which is in the index with that title")
    func tabs() async throws {
        try await withLarder { larder in
            let index = try await larder.send("GET", "/v1").json.data
            let links = try await larder.send("GET", "/v1/shop/list?profile=tabs", ["Accept-Language": "en"]).json.links
            #expect(links.tabs.elements.compactMap(\.title.string).first == "Products")
            let entries = index.apps.elements.flatMap(\.screens.elements)
            for tab in links.tabs.elements {
                let href = tab.href.string ?? ""
                #expect(href.hasSuffix("?profile=tabs"), "the links of a profile name it")
                let path = String(href.prefix { $0 != "?" })
                #expect(entries.contains { $0.href.string == path && $0.screen == tab.screen && $0["title"] != nil })
            }
            #expect(
                try await larder.send("GET", "/v1/shop/search?profile=tabs", [:]).json.links.search.href.string
                    == "/v1/shop/search?profile=tabs"
            )
        }
    }

    @Test("ONE-05 The first screen of an app without a session has the login: its fields, with titles, and its buttons")
    func logins() async throws {
        try await withLarder { larder in
            let russian = ["Accept-Language": "ru", "Content-Type": "application/json"]
            let launch = try await larder.send("GET", "/v1/ships/launch", russian).json.data
            #expect(launch.actions.elements.compactMap(\.title.string) == ["Войти", "Продолжить как гость"])
            let login = try #require(launch.actions.elements.first)
            #expect(login.fields.elements.compactMap(\.title.string) == ["Эл. почта", "Пароль"])
            let guest = try await larder.send("POST", "/v1/ships/session", russian, body: #"{"mode":"guest"}"#)
            #expect(guest.status == 201)
            let member = ["Authorization": "Bearer \(try guest.json.data.token.string ?? "")"]
            let farewell = try await larder.send("DELETE", "/v1/ships/session", member).json.data
            #expect(farewell.actions.elements.count == 2, "after the logout the login can be drawn at once")
            let notes = try await larder.send("GET", "/v1/notes/launch", [:]).json.data
            #expect(notes.actions.elements.compactMap(\.title.string) == ["Sign In", "Sign Up"])
        }
    }

    @Test("ONE-06 Downloads, operations, changes in the outbox and offline copies are tasks of one shape")
    func tasks() async throws {
        let document = try OpenAPIDocument.load()
        let schema = try #require(document.root.at(pointer: "/components/schemas/BackgroundTask"))
        let names = Set((schema["properties"]?.object ?? [:]).keys)
        #expect(names.isSuperset(of: ["kind", "state", "progress", "problem", "href", "actions"]))
        var kinds: Set<String> = []
        for (name, _, _, data) in try await screens() {
            for thing in [data] + data.items.elements {
                guard let task = thing.object?["task"] else { continue }
                #expect(Set((task.object ?? [:]).keys) == names, "\(name)")
                #expect(
                    (task.progress.number ?? 0 == 1) == (task.state.string == "done" && !task.progress.isNull),
                    "\(task)"
                )
                kinds.insert(task.kind.string ?? "")
            }
        }
        #expect(kinds.isSuperset(of: ["download", "keep_offline", "upload", "rename", "move"]), "\(kinds)")
    }
}
