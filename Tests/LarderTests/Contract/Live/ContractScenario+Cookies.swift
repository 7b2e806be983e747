import TestKit
import Testing

extension ContractScenario {
    /// A session of an app that a cookie carries, shown and, unless others need its account, ended.
    func sessionByCookie(_ app: String, _ login: String, isEnded: Bool = true) async throws {
        let (open, end) = ("POST /v1/\(app)/session", "DELETE /v1/\(app)/session")
        #expect(try await ask(open, ["Larder-Session": "bearer"], body: login).status == 400)
        let foreign = ["Larder-Session": "cookie", "Sec-Fetch-Site": "same-site"]
        #expect(try await ask(open, foreign, body: login).status == 403)
        let own = ["Larder-Session": "cookie", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"]
        let opened = try await ask(open, own, body: login)
        let cookie = try #require(opened.headers["set-cookie"], "\(opened.text)")
        let page = ["Cookie": String(cookie.prefix { $0 != ";" }), "Sec-Fetch-Site": "same-origin"]
        #expect(try await ask("GET /v1/\(app)/session", page).status == 200)
        guard isEnded else { return }
        let ended = try await ask(end, page)
        #expect(ended.status == 200 && ended.headers["clear-site-data"] == #""cache""#)
        #expect(try await ask("GET /v1/\(app)/session", page).status == 401)
    }
}
