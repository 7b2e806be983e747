import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskChangeTests {
    private let bench = DiskBench()

    @Test("a folder is made once, below one that is there")
    func makeDirectory() throws {
        let made = bench.call(.put, "/resources", ["path": "disk:/Новая папка"])
        #expect(made.status == .created)
        let query = "path=disk%3A%2F%D0%9D%D0%BE%D0%B2%D0%B0%D1%8F+%D0%BF%D0%B0%D0%BF%D0%BA%D0%B0"
        #expect(try made.object()["href"] == .string("http://127.0.0.1:4711/yandex_disk/resources?\(query)"))
        #expect(try made.object()["method"] == "GET")
        #expect(try made.object()["templated"] == false)
        let again = bench.call(.put, "/resources", ["path": "disk:/Новая папка"])
        #expect(again.failure == "409 DiskPathPointsToExistentDirectoryError")
        #expect(
            try again.object()["description"] == "Specified path \"disk:/Новая папка\" points to existent directory."
        )
        #expect(
            try again.object()["message"]
                == "По указанному пути \"disk:/Новая папка\" уже существует папка с таким именем."
        )
        let deep = bench.call(.put, "/resources", ["path": "disk:/нет/такой"])
        #expect(deep.failure == "409 DiskPathDoesntExistsError")
        #expect(try deep.object()["description"] == "Specified path \"disk:/нет/такой\" doesn't exists.")
        #expect(bench.call(.put, "/resources", ["path": "disk:/Горы.jpg/x"]).failure == "409 DiskPathDoesntExistsError")
        #expect(
            bench.call(.put, "/resources", ["path": "disk:/Горы.jpg"]).failure == "409 DiskResourceAlreadyExistsError"
        )
        #expect(
            bench.call(.put, "/resources", ["path": "disk:/"]).failure == "409 DiskPathPointsToExistentDirectoryError"
        )
    }

    @Test("a rename keeps identity, times and content, and leaves nothing behind")
    func rename() throws {
        let before = try bench.resource("disk:/Горы.jpg")
        #expect(
            bench.call(.post, "/resources/move", ["from": "disk:/Горы.jpg", "path": "disk:/Вершины.png"]).status
                == .created
        )
        let after = try bench.resource("disk:/Вершины.png")
        for member in ["resource_id", "created", "modified", "md5"] { #expect(before[member] == after[member]) }
        #expect(after["mime_type"] == "image/png" && !bench.exists("disk:/Горы.jpg"))
    }

    @Test("a move or copy onto something is refused and changes nothing, unless it may overwrite")
    func overwrite() throws {
        let target = try bench.resource("disk:/Прочти меня.txt")["md5"]
        for call in ["/resources/move", "/resources/copy"] {
            #expect(
                bench.call(.post, call, ["from": "disk:/Горы.jpg", "path": "disk:/Прочти меня.txt"]).failure
                    == "409 DiskResourceAlreadyExistsError"
            )
            #expect(
                bench.call(.post, call, ["from": "disk:/Горы.jpg", "path": "disk:/Архив"]).failure
                    == "409 DiskPathPointsToExistentDirectoryError"
            )
            #expect(
                bench.call(.post, call, ["from": "disk:/Горы.jpg", "path": "disk:/нет/Горы.jpg"]).failure
                    == "409 DiskPathDoesntExistsError"
            )
            #expect(
                bench.call(.post, call, ["from": "disk:/нет", "path": "disk:/да"]).failure == "404 DiskNotFoundError"
            )
            #expect(
                bench.call(.post, call, ["from": "disk:/", "path": "disk:/да"]).failure
                    == "409 DiskPathPointsToRootError"
            )
            #expect(
                bench.call(.post, call, ["from": "disk:/Глубоко", "path": "disk:/Глубоко/уровень 1/сюда"]).failure
                    == "409 DiskPathDoesntExistsError"
            )
        }
        #expect(try bench.resource("disk:/Прочти меня.txt")["md5"] == target && bench.exists("disk:/Горы.jpg"))
        let query: KeyValuePairs = ["from": "disk:/Горы.jpg", "path": "disk:/Прочти меня.txt", "overwrite": "true"]
        #expect(bench.call(.post, "/resources/move", query).status == .created)
        #expect(try bench.resource("disk:/Прочти меня.txt")["md5"] != target && !bench.exists("disk:/Горы.jpg"))
    }

    @Test("a copy is another resource with the same content, and not published")
    func copy() throws {
        #expect(
            bench.call(.post, "/resources/copy", ["from": "disk:/Документы/Смета.xlsx", "path": "disk:/Копия.xlsx"])
                .status == .created
        )
        let (original, copy) = (
            try bench.resource("disk:/Документы/Смета.xlsx"), try bench.resource("disk:/Копия.xlsx")
        )
        #expect(original["sha256"] == copy["sha256"] && original["resource_id"] != copy["resource_id"])
        #expect(original["public_key"] != nil && copy["public_key"] == nil)
    }

    @Test("deletion moves to the trash, from which a file is restored unchanged")
    func trash() throws {
        let before = try bench.resource("disk:/Проекты/Проект А/Отчёт.pdf")
        let deleted = bench.call(.delete, "/resources", ["path": "disk:/Проекты/Проект А/Отчёт.pdf"])
        #expect(
            deleted.status == .noContent && deleted.body.isEmpty
                && deleted.headers[.contentType] == "application/json; charset=utf-8"
        )
        #expect(!bench.exists("disk:/Проекты/Проект А/Отчёт.pdf") && bench.exists("disk:/Проекты/Проект Б/Отчёт.pdf"))
        let listed = try bench.json(.get, "/trash/resources", ["path": "trash:/", "sort": "-deleted"])
        let item = try #require(listed["_embedded"]?.object?["items"]?.array?.first?.object)
        #expect(
            item["origin_path"] == "disk:/Проекты/Проект А/Отчёт.pdf" && item["name"] == "Отчёт.pdf"
                && item["deleted"] == "2026-10-26T07:33:20+00:00"
        )
        let path = try #require(item["path"]?.string)
        #expect(path.wholeMatch(of: /trash:\/Отчёт\.pdf_[0-9a-f]{40}/) != nil)
        // Its folder is removed as well; a restored file brings it back.
        #expect(
            bench.call(
                .delete,
                "/resources",
                ["path": "disk:/Проекты/Проект А", "permanently": "true", "force_async": "false"]
            ).status == .accepted
        )
        let restored = bench.call(.put, "/trash/resources/restore", ["path": path])
        #expect(restored.status == .created)
        let after = try bench.resource("disk:/Проекты/Проект А/Отчёт.pdf")
        for member in ["resource_id", "created", "modified", "md5"] { #expect(before[member] == after[member]) }
        #expect(after["origin_path"] == nil && after["deleted"] == nil)
        #expect(bench.call(.put, "/trash/resources/restore", ["path": path]).failure == "404 DiskNotFoundError")
    }

    @Test("a restore takes another name or path, and does not overwrite by itself")
    func restoreElsewhere() throws {
        let path = try #require(
            try bench.items("/trash/resources", ["path": "trash:/"], "path", embedded: true).compactMap(\.string).first
            { $0.contains("черновик") }
        )
        try bench.control(.put, "files", #"{"path":"disk:/Старое/черновик.txt","text":"другой"}"#)
        #expect(
            bench.call(.put, "/trash/resources/restore", ["path": path]).failure == "409 DiskResourceAlreadyExistsError"
        )
        #expect(
            bench.call(.put, "/trash/resources/restore", ["path": path, "name": "/нет/ещё/нет.txt"]).status == .created
        )
        #expect(String(decoding: try bench.content("disk:/нет/ещё/нет.txt"), as: UTF8.self) == "Черновик.\n")
        #expect(bench.call(.delete, "/resources", ["path": "disk:/нет/ещё/нет.txt"]).status == .noContent)
        let again = try #require(
            try bench.items("/trash/resources", ["path": "trash:/"], "path", embedded: true).compactMap(\.string).first
            { $0.contains("нет.txt") }
        )
        #expect(bench.call(.put, "/trash/resources/restore", ["path": again, "name": "да.txt"]).status == .created)
        #expect(bench.exists("disk:/нет/ещё/да.txt"))
    }

    @Test("permanent deletion frees the space, the trash does not")
    func space() throws {
        func used() throws -> [Double?] {
            try ["used_space", "trash_size"].map { try bench.json(.get, "")[$0]?.double }
        }
        let before = try used()
        #expect(bench.call(.delete, "/resources", ["path": "disk:/Архив/Образ диска 2 ГБ.img"]).status == .noContent)
        let size = 2_254_857_830.0
        #expect(try used() == [before[0], before[1].map { $0 + size }])
        #expect(bench.call(.delete, "/trash/resources").status == .noContent)
        #expect(try used() == [before[0].map { $0 - size - (before[1] ?? 0) }, 0])
        #expect(try bench.json(.get, "/trash/resources", ["path": "trash:/"])["_embedded"]?.object?["total"] == 0)
    }

    @Test("a deletion that knows the content's digest is refused when it is another")
    func guarded() throws {
        #expect(
            bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg", "md5": String(repeating: "0", count: 32)])
                .failure == "409 MD5DifferError"
        )
        let digest = try #require(try bench.resource("disk:/Горы.jpg")["md5"]?.string)
        #expect(
            bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg", "md5": digest, "permanently": "true"]).status
                == .noContent
        )
        #expect(bench.call(.delete, "/resources", ["path": "disk:/Горы.jpg"]).failure == "404 DiskNotFoundError")
        #expect(bench.call(.delete, "/resources", ["path": "disk:/"]).failure == "409 DiskPathPointsToRootError")
    }

    @Test("custom properties are merged, null takes one away, and none are null")
    func properties() throws {
        #expect(
            try bench.resource("disk:/Документы/Помеченный.txt")["custom_properties"] == [
                "цвет": "синий", "важность": 3,
            ]
        )
        func patch(_ body: String) -> UpstreamResponse {
            bench.call(.patch, "/resources", ["path": "disk:/Горы.jpg"], body: body)
        }
        #expect(
            try patch(#"{"custom_properties":{"a":"x","n":42}}"#).object()["custom_properties"] == ["a": "x", "n": 42]
        )
        #expect(try patch(#"{"custom_properties":{"a":null}}"#).object()["custom_properties"] == ["n": 42])
        #expect(try patch(#"{"custom_properties":{"n":null}}"#).object()["custom_properties"] == .null)
        for body in ["", "[]", "{", #"{"custom_properties":1}"#, #"{"custom_properties":{"a":{}}}"#] {
            #expect(patch(body).failure == "400 FieldValidationError")
        }
    }

    @Test("a full disk is 507 for copies, and nothing is copied")
    func quota() throws {
        let used = try #require(try bench.json(.get, "")["used_space"])
        try bench.control(
            .put,
            "quota",
            String(
                decoding: JSONValue.object(.init(members: [.init(name: "total_space", value: used)])).serialized(),
                as: UTF8.self
            )
        )
        let response = bench.call(.post, "/resources/copy", ["from": "disk:/Горы.jpg", "path": "disk:/Ещё горы.jpg"])
        #expect(response.failure == "507 DiskStorageQuotaExhaustedError" && !bench.exists("disk:/Ещё горы.jpg"))
        #expect(
            bench.call(.get, "/resources/upload", ["path": "disk:/a.txt"]).failure
                == "507 DiskStorageQuotaExhaustedError"
        )
        #expect(
            bench.call(.post, "/resources/move", ["from": "disk:/Горы.jpg", "path": "disk:/Ещё горы.jpg"]).status
                == .created
        )
    }
}
