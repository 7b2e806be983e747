import Foundation
import TestKit
import Testing

/// Notes in the real executable.
@Suite(.timeLimit(.minutes(10))) struct NotesTests {
    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox, _ settings: [String] = []) async throws
        -> RunningLarder
    {
        let own = sandbox.settings("people", "geocoder") + ["--notes-scrypt-logarithm", "10"]
        return try await .start(data: data, upstream: sandbox.spacex, own + settings)
    }

    @Test("NOTE-02 NOTE-03 every acknowledged note is there after kill -9, whole and in every index; the login too")
    func killed() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let bob = try await larder.client.writer()
        let acknowledged = await withTaskGroup(of: [String].self) { group in
            for writer in 1...4 {
                group.addTask {
                    var texts: [String] = []
                    // Not for ever: a map of more notes has clusters, and a search counts a thousand.
                    for number in 1...50 {
                        let text = "writer\(writer) note\(number)"
                        let place = #"{"lat":\#(writer * 10),"lon":\#(number % 90),"name":"Place"}"#
                        let body = #"{"body":"\#(text)","location":\#(place)}"#
                        guard let response = try? await bob.post("/v1/notes", body), response.status == 201 else {
                            break
                        }
                        texts.append(text)
                        if writer == 1, number == 25 { await larder.kill9() }
                    }
                    return texts
                }
            }
            return await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(acknowledged.count >= 25)
        let again = try await start(data, sandbox)
        let client = bob.moved(to: again)
        #expect(try await client.get("/v1/notes/launch").json.data.route.screen.string == "notes.list")
        var kept: [String] = []
        var next: String? = "/v1/notes?limit=100"
        while let path = next {
            let page = try await client.get(path).json
            kept += page.data.items.elements.compactMap { $0.first_line.string }
            next = page.links.next.string
        }
        #expect(Set(kept).isSuperset(of: acknowledged))
        #expect(kept.count == Set(kept).count)
        // Whatever was written is written in all of its places.
        let map = try await client.get("/v1/notes/map").json
        #expect(map.data.total.int == kept.count && map.data.pins.elements.count == kept.count, "\(kept.count)")
        #expect(try await client.get("/v1/notes?q=note&limit=1").json.meta.page.total.int == kept.count)
    }

    @Test("NOTE-06 NOTE-07 fetched people and avatars are shown without any upstream after a restart")
    func offline() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let bob = try await larder.client.writer("bob")
        let people = try await bob.get("/v1/notes/people?limit=500").json.data.items
        #expect(people.elements.count == 120)
        let avatar = try #require(people[0].avatar_url.string)
        let picture = try await bob.get(avatar)
        #expect(picture["Content-Type"] == "image/png" && picture["Cache-Status"] == "larder; fwd=uri-miss; stored")
        #expect(await larder.stop() == 0)
        let asked = try await sandbox.control.get("/journal?upstream=people").json.entries.elements.count
        #expect(asked == 2)
        for upstream in ["people", "geocoder", "spacex"] {
            try await sandbox.fault("offline", of: upstream)
        }
        let again = try await start(data, sandbox)
        let back = try await again.client.writer("bob", "login")
        #expect(try await back.get("/v1/notes/people?limit=500&refresh=1").json.data.items.elements.count == 120)
        #expect(try await back.get(avatar).body == picture.body)
        #expect(try await sandbox.control.get("/journal?upstream=people").json.entries.elements.count == asked)
        let places = try await back.get("/v1/notes/places?q=lag").json
        #expect(
            places.data.items[0].name.string == "Lagos" && places.meta.partial.bool == true
                && places.meta.offline.bool == true
        )
    }

    @Test("NOTE-06 a truncated response stores no people, and the next call has all of them")
    func cut() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let bob = try await larder.client.writer()
        try await sandbox.fault("truncated", of: "people")
        #expect([502, 503].contains(try await bob.get("/v1/notes/people").status))
        try await sandbox.fault("online", of: "people")
        #expect(try await bob.get("/v1/notes/people").json.meta.page.total.int == 120)
    }

    @Test("NOTE-11 The operator resets a password while no server uses the data; all sessions of the account end")
    func reset() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let bob = try await larder.client.writer("bob", password: "correct horse")
        let reset = { (user: String, input: String) in
            let arguments = ["account", "reset-password", "--user", user, "--data-directory", data.path]
            let process = RunningProcess(arguments + ["--notes-scrypt-logarithm", "10"], input: input)
            return (status: await process.ended(), text: process.output + process.log)
        }
        #expect(await reset("bob", "battery staple\n").status == 1, "the server uses the data")
        #expect(await larder.stop() == 0)
        for (user, input) in [("eve", "battery staple\n"), ("bob", ""), ("bob", "\n")] {
            #expect(await reset(user, input).status == 1, "\(user)")
        }
        let done = await reset("BOB", "battery staple\n")
        #expect(done.status == 0 && !done.text.contains("battery"), "\(done.text)")
        let again = try await start(data, sandbox)
        #expect(try await bob.moved(to: again).get("/v1/notes").status == 401)
        let former = Client.account("bob", "login", password: "correct horse")
        #expect(try await again.client.post("/v1/notes/session", former).status == 401)
        _ = try await again.client.writer("bob", "login", password: "battery staple")
    }

    @Test("NOTE-01 SRV-11 neither the passwords nor the key of the people API are in the log or the data")
    func secrets() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        _ = try await sandbox.control.put("/people/account", #"{"key":"hush-hush-key"}"#)
        let larder = try await start(data, sandbox, ["--log-level", "trace", "--people-key", "hush-hush-key"])
        let bob = try await larder.client.writer("bob", password: "correct horse")
        #expect(try await bob.get("/v1/notes/people").status == 200)
        let wrong = Client.account("bob", "login", password: "wrong staple")
        #expect(try await larder.client.post("/v1/notes/session", wrong).status == 401)
        #expect(await larder.stop() == 0)
        for secret in ["hush-hush-key", "correct horse", "wrong staple", bob.token ?? "none"] {
            #expect(!larder.process.log.contains(secret))
            for file in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
                let bytes = (try? Data(contentsOf: data.url.appending(path: file))) ?? Data()
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
            }
        }
        #expect(try await !sandbox.control.get("/journal?upstream=people").text.contains("hush-hush-key"))
    }

    @Test("NOTE-01 hundreds of logins at once get a response, while other requests are served")
    func flood() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let bob = try await larder.client.writer()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            // Fewer than one address may have connections.
            for number in 0..<480 {
                group.addTask {
                    let login = Client.account("user\(number % 200)", "login", password: "x")
                    return try await larder.client.post("/v1/notes/session", login).status
                }
                if number % 120 == 0 { group.addTask { try await bob.get("/v1/notes").status } }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses[200] == 4)
        #expect(Set(statuses.keys).isSubset(of: [200, 401, 429, 503]))
        #expect((1...110).contains(statuses[401] ?? 0), "an address has a hundred attempts")
    }
}
