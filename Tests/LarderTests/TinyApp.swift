import Concurrency
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Upstream

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
        let session = Session(
            app: Self.name,
            kind: .guest,
            account: "guest",
            name: nil,
            createdAt: context.clock.now()
        )
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
