import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskOperationsTests {
    private let bench = DiskBench()

    private func operation(_ response: UpstreamResponse) throws -> String {
        try #require(response.status == .accepted)
        let href = try #require(try response.object()["href"]?.string)
        let id = String(href.suffix(64))
        #expect(href == "http://127.0.0.1:4711/yandex_disk/operations/\(id)" && id.allSatisfy(\.isHexDigit))
        return id
    }

    private func status(_ id: String) throws -> JSONValue? { try bench.json(.get, "/operations/\(id)")["status"] }

    @Test("a folder that is not empty is moved by an operation, whose last poll makes the change")
    func folder() throws {
        let id = try operation(bench.call(.post, "/resources/move", ["from": "disk:/Проекты", "path": "disk:/Дела"]))
        #expect(bench.exists("disk:/Проекты") && !bench.exists("disk:/Дела"))
        #expect(try status(id) == "in-progress")
        #expect(bench.exists("disk:/Проекты"))
        #expect(try status(id) == "success")
        #expect(bench.exists("disk:/Дела/Проект А/План.docx") && !bench.exists("disk:/Проекты"))
        #expect(try status(id) == "success")
        #expect(
            bench.call(.get, "/operations/\(id)", token: "sandbox-token-2").failure == "404 DiskOperationNotFoundError"
        )
    }

    @Test("an empty folder and a file need none, unless it is forced")
    func immediate() throws {
        #expect(
            bench.call(.post, "/resources/move", ["from": "disk:/Пустая папка", "path": "disk:/Пусто"]).status
                == .created
        )
        let id = try operation(bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg", "force_async": "true"]))
        #expect(bench.exists("disk:/Горы.jpg"))
        #expect(try [status(id), status(id)] == ["in-progress", "success"])
        #expect(!bench.exists("disk:/Горы.jpg"))
    }

    @Test(
        "a control says which calls become operations, after how many polls they end, and how",
        arguments: DiskChange.Call.allCases
    )
    func controlled(call: DiskChange.Call) throws {
        try bench.control(.put, "operations", #"{"calls":["\#(call.rawValue)"],"polls":3,"status":"failed"}"#)
        let trashed = try #require(
            try bench.items("/trash/resources", ["path": "trash:/"], "path", embedded: true).compactMap(\.string).last
        )
        let key = try #require(try bench.resource("disk:/Документы/Смета.xlsx")["public_key"]?.string)
        let id: String
        switch call {
        case .copy:
            id = try operation(bench.call(.post, "/resources/copy", ["from": "disk:/Горы.jpg", "path": "disk:/x"]))
        case .move:
            id = try operation(bench.call(.post, "/resources/move", ["from": "disk:/Горы.jpg", "path": "disk:/x"]))
        case .delete: id = try operation(bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg"]))
        case .restore: id = try operation(bench.call(.put, "/trash/resources/restore", ["path": trashed, "name": "x"]))
        case .empty: id = try operation(bench.call(.delete, "/trash/resources"))
        case .save:
            id = try operation(
                bench.call(.post, "/public/resources/save-to-disk", ["public_key": key, "name": "x", "save_path": "/"])
            )
        case .upload:
            let link = try bench.json(.get, "/resources/upload", ["path": "disk:/x"])
            #expect(bench.send(.put, try #require(link["href"]?.string), body: [1]).status == .accepted)
            id = try #require(link["operation_id"]?.string)
        }
        #expect(try (0..<4).map { _ in try status(id) } == ["in-progress", "in-progress", "in-progress", "failed"])
        #expect(bench.exists("disk:/Горы.jpg") && !bench.exists("disk:/x"))
        #expect(try bench.json(.get, "/trash/resources", ["path": "trash:/"])["_embedded"]?.object?["total"] == 2)
    }

    @Test("DISK F13 an operation that no client asks for ends by itself, after a second for each poll and one more")
    func unpolled() throws {
        try bench.control(.put, "operations", #"{"calls":["move","upload"],"polls":2}"#)
        let id = try operation(bench.call(.post, "/resources/move", ["from": "disk:/Горы.jpg", "path": "disk:/x"]))
        let link = try bench.json(.get, "/resources/upload", ["path": "disk:/a.txt"])
        try bench.control(.post, "clock", #"{"advance_s":2}"#)
        #expect(bench.send(.put, try #require(link["href"]?.string), body: [1]).status == .accepted)
        #expect(bench.exists("disk:/Горы.jpg") && !bench.exists("disk:/x"))
        try bench.control(.post, "clock", #"{"advance_s":1}"#)
        #expect(!bench.exists("disk:/Горы.jpg") && bench.exists("disk:/x") && !bench.exists("disk:/a.txt"))
        #expect(try status(id) == "success")
        try bench.control(.post, "clock", #"{"advance_s":2}"#)
        #expect(bench.exists("disk:/a.txt"), "an upload's time begins with its bytes")
    }

    @Test("DISK F13 an upload whose bytes never arrive stays in progress, whatever time passes")
    func unsent() throws {
        let link = try bench.json(.get, "/resources/upload", ["path": "disk:/a.txt"])
        let id = try #require(link["operation_id"]?.string)
        try bench.control(.post, "clock", #"{"advance_s":1000}"#)
        #expect(try status(id) == "in-progress" && !bench.exists("disk:/a.txt"))
    }

    @Test("DISK-40 the operation of an upload that breaks off has failed, and its link takes another attempt")
    func brokenOff() throws {
        let link = try bench.json(.get, "/resources/upload", ["path": "disk:/a.txt"])
        let (id, href) = (try #require(link["operation_id"]?.string), try #require(link["href"]?.string))
        let uploader = YandexUploader(disk: bench.disk)
        let target = href.split(separator: "/").suffix(2).map(String.init)
        for path in [["other", "x"], ["upload-target"], target] {
            #expect(try status(id) == "in-progress")
            uploader.breakOff(UpstreamRequest(method: .put, path: path, origin: DiskBench.origin))
        }
        #expect(try status(id) == "failed")
        #expect(bench.send(.put, href, body: Array("да".utf8)).status == .created)
        #expect(try status(id) == "success")
        uploader.breakOff(UpstreamRequest(method: .put, path: target, origin: DiskBench.origin))
        #expect(try status(id) == "success", "it is done")
    }

    @Test("an operation whose target is taken meanwhile fails and overwrites nothing")
    func overtaken() throws {
        let id = try operation(bench.call(.post, "/resources/move", ["from": "disk:/Проекты", "path": "disk:/Дела"]))
        try bench.control(.put, "files", #"{"path":"disk:/Дела","text":"занято"}"#)
        #expect(try [status(id), status(id)] == ["in-progress", "failed"])
        #expect(bench.exists("disk:/Проекты"))
        #expect(String(decoding: try bench.content("disk:/Дела"), as: UTF8.self) == "занято")
    }

    @Test("an accepted upload is there when its operation has ended")
    func upload() throws {
        try bench.control(.put, "operations", #"{"calls":["upload"],"polls":1}"#)
        let link = try bench.json(.get, "/resources/upload", ["path": "disk:/a.txt"])
        let id = try #require(link["operation_id"]?.string)
        #expect(try [status(id), status(id)] == ["in-progress", "in-progress"], "nothing has come yet")
        #expect(bench.send(.put, try #require(link["href"]?.string), body: Array("да".utf8)).status == .accepted)
        #expect(!bench.exists("disk:/a.txt"))
        #expect(try [status(id), status(id)] == ["in-progress", "success"])
        #expect(String(decoding: try bench.content("disk:/a.txt"), as: UTF8.self) == "да")
    }
}
