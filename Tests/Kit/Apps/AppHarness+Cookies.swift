package import HTTPTypes
import Server
import Testing

@testable import Screens

extension AppHarness {
    /// Opens a session whose token a cookie carries, and returns the pair that a browser sends from then on.
    ///
    /// - Parameters:
    ///   - login: the body of the login.
    ///   - headerFields: further fields of the request.
    package func enterByCookie(_ login: String, _ headerFields: HTTPFields = [:]) async throws -> String {
        var fields = headerFields
        fields[.larderSession] = "cookie"
        let opened = try await ask(.post, "/v1/\(Served.name)/session", as: nil, fields, json: login)
        let cookie = try #require(opened.headerFields[.setCookie], "\(opened.text)")
        return String(cookie.prefix { $0 != ";" })
    }

    /// Checks the rules for sessions by cookie, which are the same in all apps.
    ///
    /// - Parameters:
    ///   - login: the body of a login.
    ///   - age: seconds that the cookie is kept; nil if it ends with the browser.
    ///   - end: path and query of the logout.
    package func expectSessionsByCookie(login: String, age: Int?, end: String) async throws {
        let session = "/v1/\(Served.name)/session"
        let opened = try await ask(.post, session, as: nil, [.larderSession: "cookie"], json: login)
        #expect(opened.status == 201 && opened["data.token"] == .null)
        let cookie = try #require(opened.headerFields[.setCookie])
        let pair = String(cookie.prefix { $0 != ";" })
        let rest = "; Path=/v1; HttpOnly; SameSite=Strict" + (age.map { "; Max-Age=\($0)" } ?? "")
        #expect(cookie == pair + rest && pair.hasPrefix(sessions.cookies.name(of: Served.name) + "="))
        try await expectCarriers(session, pair, login)
        try await expectOwnPagesOnly(session, pair, end)
        try await expectOneCookie(session, pair)
        let ended = try await ask(.delete, end, as: nil, [.cookie: pair, .secFetchSite: "same-origin"])
        #expect(ended.status == 200 && ended.headerFields[.clearSiteData] == #""cache""#)
        let name = sessions.cookies.name(of: Served.name)
        #expect(ended.headerFields[.setCookie] == "\(name)=; Path=/v1; HttpOnly; SameSite=Strict; Max-Age=0")
        #expect(try await get(session, as: nil, [.cookie: pair])["code"] == "session-expired")
    }

    /// A cookie's token opens nothing as a bearer's, nor the other way round; `Authorization` wins.
    private func expectCarriers(_ session: String, _ pair: String, _ login: String) async throws {
        let token = String(pair.drop { $0 != "=" }.dropFirst())
        for scheme in ["Bearer ", "Bearer cookie ", "Cookie "] {
            let foreign = try await get(session, as: nil, [.authorization: scheme + token])
            #expect(foreign.status == 401, "\(scheme)")
        }
        let bearer = try await ask(.post, session, as: nil, json: login)
        #expect(bearer.headerFields[.setCookie] == nil)
        let other = try bearer.string("data.token")
        let name = sessions.cookies.name(of: Served.name)
        #expect(try await get(session, as: nil, [.cookie: "\(name)=\(other)"])["code"] == "session-expired")
        for field in ["Bearer none", "Basic none"] {
            #expect(try await get(session, as: nil, [.cookie: pair, .authorization: field]).status == 401, "\(field)")
        }
        #expect(try await get(session, as: other, [.cookie: "\(name)=none"]).status == 200)
    }

    /// A cookie counts on requests of pages of this server; where that is not known, it only reads.
    private func expectOwnPagesOnly(_ session: String, _ pair: String, _ end: String) async throws {
        func fields(_ name: HTTPField.Name? = nil, _ value: String = "") -> HTTPFields {
            var fields: HTTPFields = [.cookie: "theme=dark; \(pair); a"]
            if let name { fields[name] = value }
            return fields
        }
        for own in [fields(), fields(.secFetchSite, "same-origin"), fields(.secFetchSite, "none")] {
            let shown = try await get(session, as: nil, own)
            #expect(shown.status == 200 && shown.headerFields[.vary]?.contains("Cookie") == true)
        }
        for site in ["same-site", "cross-site", "", "Same-Origin"] {
            let foreign = try await get(session, as: nil, fields(.secFetchSite, site))
            #expect(foreign["code"] == "session-required", "\(site)")
            #expect(try await ask(.delete, end, as: nil, fields(.secFetchSite, site)).status == 403, "\(site)")
        }
        #expect(try await get(session, as: nil, fields(.origin, "http://localhost:1"))["code"] == "session-required")
        #expect(try await ask(.delete, end, as: nil, fields(.origin, "http://localhost:1")).status == 403)
        #expect(try await ask(.delete, end, as: nil, fields())["code"] == "session-required")
        #expect(try await get(session, as: nil, fields()).status == 200, "none of it had an effect")
    }

    /// Two cookies of one name that differ are none: a page of another port may have set one of them.
    private func expectOneCookie(_ session: String, _ pair: String) async throws {
        let name = sessions.cookies.name(of: Served.name)
        for cookies in ["\(pair); \(name)=x", "\(name)=x; \(pair)"] {
            #expect(try await get(session, as: nil, [.cookie: cookies])["code"] == "session-required", "\(cookies)")
        }
        #expect(try await get(session, as: nil, [.cookie: "\(pair); \(pair)"]).status == 200)
        var lines: HTTPFields = [.cookie: "a=b"]
        lines.append(HTTPField(name: .cookie, value: pair))
        #expect(try await get(session, as: nil, lines).status == 200)
        let value = pair.drop { $0 != "=" }.dropFirst()
        for cookie in ["\(name)=\"\(value)\"", "\(name) =\(value)", "\(name.uppercased())=\(value)", "x\(pair)", name] {
            #expect(try await get(session, as: nil, [.cookie: cookie]).status == 401, "\(cookie)")
        }
    }
}

extension HTTPFields {
    package func merging(_ other: HTTPFields) -> HTTPFields { HTTPFields(Array(self) + Array(other)) }

    /// The fields of a request that a browser sends for a page of the server, with this cookie.
    package static func ofOwnPage(_ cookie: String) -> HTTPFields { [.cookie: cookie, .secFetchSite: "same-origin"] }
}
