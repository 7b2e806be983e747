import Concurrency
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Screens
import Server
import TestKit
import Testing
import Upstream

@testable import Larder
@testable import Storage

@Suite struct AppListTests {
    private let apps = AppList(AppList.standard.types + [TinyApp.self])

    private func configuration(_ arguments: [String], in directory: URL) throws -> LarderConfiguration {
        let own = ["--data-directory", directory.path]
        let reader = try SettingsReader(
            arguments: own + arguments,
            environment: [:],
            file: nil,
            catalogue: SettingCatalogue(apps)
        )
        return try LarderConfiguration(reader, environment: [:], apps: apps)
    }

    /// Runs a test against a server that is built as `larder serve` builds it.
    private func withServer(
        _ arguments: [String],
        _ test: @escaping @Sendable (LarderApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        let data = try TemporaryFolder()
        defer { withExtendedLifetime(data) {} }
        let larder = try await LarderApplication.build(
            try configuration(arguments, in: data.url),
            metrics: PrometheusRegistry(),
            onListening: { _, _ in },
            logger: .quiet
        )
        do {
            try await larder.application.test(.router) { try await test(larder, $0) }
        } catch {
            try await larder.close()
            throw error
        }
        try await larder.close()
    }

    @Test("A sixth app needs its type and place in the list: routes, session, setting, table, problem, index, upstream")
    func sixthApp() async throws {
        let arguments = ["--tiny-greeting", "good day", "--upstreams-weather-url", "http://127.0.0.1:1"]
        try await withServer(arguments) { larder, client in
            #expect(try await client.execute(uri: "/v1/tiny", method: .get) { $0.status } == .unauthorized)
            let token = try await client.execute(uri: "/v1/tiny/session", method: .post) { String(buffer: $0.body) }
            let fields: HTTPFields = [.authorization: "Bearer \(token)"]
            for visit in 1...2 {
                let text = try await client.execute(uri: "/v1/tiny", method: .get, headers: fields) {
                    String(buffer: $0.body)
                }
                #expect(text == "good day guest \(visit) the weather")
            }
            let problem = try await client.execute(uri: "/v1/tiny/small", method: .get) {
                "\($0.status.code) \(String(buffer: $0.body))"
            }
            #expect(problem.hasPrefix("409 ") && problem.contains(#""code":"too-small""#))
            let index = try await client.execute(uri: "/v1", method: .get) {
                try String(buffer: $0.body).sortedJSON
            }
            #expect(index.contains(#""title":"Tiny""#) && index.contains(#""href":"/v1/tiny","method":"GET""#))
            let status = try await client.execute(uri: "/v1/status", method: .get) { String(buffer: $0.body) }
            #expect(status.contains(#""name":"weather""#))
        }
    }

    @Test("Without an address of its upstream the app is served all the same: the upstream is optional")
    func optionalUpstream() async throws {
        try await withServer([]) { _, client in
            let token = try await client.execute(uri: "/v1/tiny/session", method: .post) { String(buffer: $0.body) }
            let text = try await client.execute(
                uri: "/v1/tiny",
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            ) { String(buffer: $0.body) }
            #expect(text == "hello guest 1 no upstream")
        }
    }

    @Test("The setting of a sixth app is read like every other, and is none without the app")
    func setting() throws {
        #expect(throws: SettingError.self) {
            try SettingsReader(arguments: ["--tiny-greeting", "x"], environment: [:], file: nil)
        }
        let page = SettingsPage(apps).markdown()
        #expect(page.contains("| `tiny.greeting` |") && page.contains("| `weather` |"))
    }

    @Test("Names, keys, steps and codes of all apps differ")
    func distinct() {
        func repeated(_ names: [String]) -> [String] {
            Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.keys.sorted()
        }
        #expect(repeated(apps.types.map { $0.name }) == [])
        #expect(repeated(apps.upstreams.map(\.name)) == [])
        #expect(repeated(SettingCatalogue(apps).all.map(\.key)) == [])
        #expect(repeated(apps.migrations.map(\.name)) == [])
        #expect(repeated(apps.problems.map(\.rawValue)) == [])
    }

    @Test("An app gets the values of its own settings only")
    func ownSettings() throws {
        let arguments = ["--tiny-greeting", "good day", "--http-operator-key", "hush"]
        let catalogue = SettingCatalogue(apps)
        let all = try SettingsReader(arguments: arguments, environment: [:], file: nil, catalogue: catalogue).values()
        #expect(all[HTTPSettings.operatorKey] == "hush")
        let own = all.restricted(to: TinyApp.settings)
        #expect(own[TinyApp.greeting] == "good day" && own[HTTPSettings.operatorKey].isEmpty)
    }
}

/// A sixth app: all that it takes is this type and a place in the list of apps.
struct TinyApp: App {
    static let name = "tiny"
    static let title = Text("Tiny", ru: "Крошка")
    static let weather = UpstreamDescription("weather", title: "the weather", url: nil, isOptional: true)
    static let upstreams = [weather]
    static let greeting = Setting("tiny.greeting", .text, default: "hello", "the text that the app shows")
    static let settings: [any SettingDeclaration] = [greeting]
    static let migrations = [
        SchemaMigration("tiny/001 visit", sql: "CREATE TABLE tiny_visit (account TEXT NOT NULL) STRICT")
    ]
    static let problems: [ProblemCode] = [.tooSmall]

    private let greeting: String
    private let context: AppContext

    init(_ context: AppContext) throws {
        greeting = context.settings[Self.greeting]
        self.context = context
    }

    static var routes: [AppRoute<Self>] {
        [
            Route(.post, "/v1/tiny/session", "tiny.session", open),
            Route(.get, "/v1/tiny", "tiny.show", session: show),
            Route(.get, "/v1/tiny/small", "tiny.small", { _ in { _ in throw Problem(.tooSmall, "It is too small.") } }),
        ]
    }

    @Sendable private func open(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = Session(app: Self.name, kind: .guest, account: "guest", name: nil, createdAt: context.clock.now())
        return text(try await context.sessions.open(session))
    }

    @Sendable private func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let visits = try await context.database.write { db in
            try db.execute(sql: "INSERT INTO tiny_visit (account) VALUES (?)", arguments: [session.account])
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM tiny_visit") ?? 0
        }
        let upstream = context.optionalUpstream(Self.weather)?.configuration.title ?? "no upstream"
        return text("\(greeting) \(session.account) \(visits) \(upstream)")
    }

    private func text(_ text: String) -> ScreenResponse {
        ScreenResponse(body: .bytes(Data(text.utf8), type: "text/plain"), hasValidator: false)
    }
}

extension ProblemCode {
    static let tooSmall = ProblemCode("too-small", .conflict, "It is too small")
}
