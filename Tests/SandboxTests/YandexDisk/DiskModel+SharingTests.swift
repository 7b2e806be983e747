import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskModelSharingTests {
    private let bench = DiskBench()

    @Test("publishing gives a key and an address, twice the same; unpublishing ends them")
    func publish() throws {
        let response = bench.call(
            .put,
            "/resources/publish",
            ["path": "disk:/Горы.jpg"],
            body: #"{"public_settings":{}}"#
        )
        #expect(response.status == .ok)
        #expect(
            try response.object()["href"]?.string?.hasPrefix(
                "http://127.0.0.1:4711/yandex_disk/resources?path=disk%3A%2F"
            ) == true
        )
        let file = try bench.resource("disk:/Горы.jpg")
        let (key, url) = (try #require(file["public_key"]?.string), try #require(file["public_url"]?.string))
        #expect(url.wholeMatch(of: /https:\/\/yadi\.sk\/i\/[A-Za-z0-9_-]{14}/) != nil)
        #expect(bench.call(.put, "/resources/publish", ["path": "disk:/Горы.jpg"]).status == .ok)
        #expect(try bench.resource("disk:/Горы.jpg")["public_key"] == .string(key))
        for name in [key, url] {
            #expect(try bench.json(.get, "/public/resources", ["public_key": name], token: nil)["name"] == "Горы.jpg")
        }
        #expect(try bench.items("/resources/public", ["limit": "1"], "path") == ["disk:/Горы.jpg"], "newest first")
        #expect(bench.call(.put, "/resources/unpublish", ["path": "disk:/Горы.jpg"]).status == .ok)
        #expect(try bench.resource("disk:/Горы.jpg")["public_key"] == nil)
        #expect(
            bench.call(.get, "/public/resources", ["public_key": key], token: nil).failure == "404 DiskNotFoundError"
        )
        #expect(bench.call(.put, "/resources/publish", ["path": "disk:/нет"]).failure == "404 DiskNotFoundError")
    }

    @Test("the list of what is published is by kind")
    func list() throws {
        let all = try bench.items("/resources/public", [:], "path").compactMap(\.string)
        #expect(
            Set(all) == [
                "disk:/Документы/Смета.xlsx", "disk:/Общее", "disk:/Фотокамера/IMG_03.JPG",
                "disk:/Фотокамера/IMG_08.JPG",
            ]
        )
        #expect(try bench.items("/resources/public", ["type": "dir"], "path") == ["disk:/Общее"])
        #expect(try bench.items("/resources/public", ["type": "file", "limit": "2", "offset": "2"], "path").count == 1)
    }

    @Test("a public folder shows its own paths, its owner and views, without a token; a wrong token is refused")
    func publicFolder() throws {
        let url = try #require(try bench.resource("disk:/Общее")["public_url"]?.string)
        let folder = try bench.json(.get, "/public/resources", ["public_key": url], token: nil)
        #expect(folder["path"] == "/" && folder["owner"]?.object?["login"] == "anna" && folder["views_count"] == 1)
        let paths = try #require(folder["_embedded"]?.object?["items"]?.array).compactMap { $0.object?["path"]?.string }
        #expect(paths.first == "/Вложенная" && paths.contains("/Вид 6.jpg") && paths.count == 7)
        #expect(try bench.json(.get, "/public/resources", ["public_key": url], token: nil)["views_count"] == 2)
        let inner = try bench.json(
            .get,
            "/public/resources",
            ["public_key": url, "path": "/Вложенная/Прочти.txt"],
            token: nil
        )
        #expect(inner["path"] == "/Вложенная/Прочти.txt")
        let own = try #require(inner["public_url"]?.string)
        #expect(try bench.json(.get, "/public/resources", ["public_key": own], token: nil)["name"] == "Прочти.txt")
        #expect(
            bench.call(.get, "/public/resources", ["public_key": url, "path": "/нет"], token: nil).failure
                == "404 DiskNotFoundError"
        )
        #expect(
            bench.call(.get, "/public/resources", ["public_key": url], token: "wrong").failure
                == "401 UnauthorizedError"
        )
        let link = try bench.json(
            .get,
            "/public/resources/download",
            ["public_key": url, "path": "/Вложенная/Прочти.txt"],
            token: nil
        )
        let content = bench.send(.get, try #require(link["href"]?.string))
        #expect(String(decoding: try content.bytes(), as: UTF8.self) == "Это видно всем, у кого есть ссылка.\n")
    }

    @Test("the list of a public folder has the key of the folder, and its items no owner, as in the recording")
    func publicList() throws {
        let url = try #require(try bench.resource("disk:/Общее")["public_url"]?.string)
        let folder = try bench.json(.get, "/public/resources", ["public_key": url], token: nil)
        let key = try #require(folder["public_key"]?.string)
        let list = try #require(folder["_embedded"]?.object)
        #expect(list["public_key"]?.string == key)
        let items = try #require(list["items"]?.array)
        #expect(!items.isEmpty && items.allSatisfy { $0.object != nil && $0.object?["owner"] == nil })
    }

    @Test("settings end a link or ask for a password, which no response shows")
    func settings() throws {
        let path = "disk:/Фотокамера/IMG_03.JPG"
        let key = try #require(try bench.resource(path)["public_key"]?.string)
        func change(_ body: String) -> UpstreamResponse {
            bench.call(.patch, "/public/resources/public-settings", ["path": path], body: body)
        }
        let changed = change(#"{"password":"secret","read_only":true}"#)
        #expect(changed.status == .ok && changed.body.isEmpty)
        #expect(
            try bench.json(.get, "/public/resources/public-settings", ["path": path])
                == JSONObject(members: [.init(name: "read_only", value: true)])
        )
        #expect(
            bench.call(.get, "/public/resources/download", ["public_key": key], token: nil).failure
                == "403 DiskSymlinkPasswordRequiredError"
        )
        #expect(change(#"{"password":null,"available_until":1}"#).status == .ok)
        #expect(
            bench.call(.get, "/public/resources", ["public_key": key], token: nil).failure == "404 DiskNotFoundError"
        )
    }

    @Test("what others publish is saved to one's own disk")
    func save() throws {
        let source = try bench.resource("disk:/Общее")
        let query: KeyValuePairs = [
            "public_key": source["public_key"]?.string ?? "", "name": "Чужое", "save_path": "disk:/Документы",
        ]
        let response = bench.call(.post, "/public/resources/save-to-disk", query, token: "sandbox-token-2")
        #expect(response.status == .created)
        let saved = try bench.json(
            .get,
            "/resources",
            ["path": "disk:/Документы/Чужое/Вид 1.jpg"],
            token: "sandbox-token-2"
        )
        #expect(try saved["sha256"] == bench.resource("disk:/Общее/Вид 1.jpg")["sha256"] && saved["public_key"] == nil)
        #expect(
            bench.call(.post, "/public/resources/save-to-disk", query, token: nil).failure == "401 UnauthorizedError"
        )
    }

    @Test("what is deleted is not published any more, also when it comes back")
    func deleted() throws {
        let key = try #require(try bench.resource("disk:/Документы/Смета.xlsx")["public_key"]?.string)
        #expect(bench.call(.delete, "/resources", ["path": "disk:/Документы/Смета.xlsx"]).status == .noContent)
        #expect(
            bench.call(.get, "/public/resources", ["public_key": key], token: nil).failure == "404 DiskNotFoundError"
        )
    }
}
