import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskModelReadResultTests {
    private let bench = DiskBench()

    @Test("the disk's data have the recorded members, and the space adds up")
    func info() throws {
        let response = bench.call(.get, "")
        #expect(response.status == .ok && response.headers[.contentType] == "application/json; charset=utf-8")
        let info = try response.object()
        #expect(
            Set(info.members.map(\.name)) == [
                "max_file_size", "paid_max_file_size", "total_space", "reg_time", "trash_size", "is_paid",
                "is_idm_managed_folder_address_access", "used_space",
                "system_folders", "user", "is_idm_managed_public_access", "unlimited_autoupload_enabled", "revision",
            ]
        )
        #expect(info["user"]?.object?["login"] == "anna" && info["user"]?.object?["uid"] == "100000001")
        var files = 0.0
        for size in try bench.items("/resources/files", ["limit": "10000"], "size") {
            files += try #require(size.double)
        }
        let trash = try #require(info["trash_size"]?.double)
        #expect(trash > 0 && info["used_space"]?.double == files + trash)
        #expect(bench.call(.get, "/") == response)
    }

    @Test(
        "a token that is missing, wrong or of another scheme is 401 in both languages",
        arguments: [nil, "OAuth wrong", "OAuth", "Basic c2FuZGJveC10b2tlbg==", "sandbox-token"]
    )
    func unauthorized(field: String?) throws {
        var headers = HTTPFields()
        headers[.authorization] = field
        for path in ["", "/resources?path=/", "/resources/files", "/operations/0000", "/trash/resources?path=trash:/"] {
            let response = bench.send(.get, "/yandex_disk\(path)", headers: headers)
            #expect(response.failure == "401 UnauthorizedError")
            #expect(response.headers[.contentType] == "application/json")
            #expect(try response.object()["message"] == "Не авторизован.")
            #expect(try response.object()["description"] == "Unauthorized")
        }
    }

    @Test("the second token opens the second account, which sees nothing of the first")
    func accounts() throws {
        #expect(try bench.json(.get, "", token: "sandbox-token-2")["user"]?.object?["login"] == "boris")
        #expect(
            bench.call(.get, "/resources", ["path": "disk:/Горы.jpg"], token: "sandbox-token-2").failure
                == "404 DiskNotFoundError"
        )
        #expect(bench.call(.get, "/resources", ["path": "disk:/Привет.txt"], token: "sandbox-token-2").status == .ok)
    }

    @Test("a file has the recorded members in the recorded order, and digests of its content")
    func file() throws {
        let file = try bench.resource("disk:/Горы.jpg")
        #expect(
            file.members.map(\.name) == [
                "path", "type", "name", "created", "modified", "size", "mime_type", "md5", "sha256", "media_type",
                "resource_id", "revision", "comment_ids",
                "exif", "antivirus_status", "file", "preview", "sizes",
            ]
        )
        let content = ReceivedBody(try bench.content("disk:/Горы.jpg"))
        #expect(
            file["size"] == .integer(content.count) && file["md5"] == .string(content.md5)
                && file["sha256"] == .string(content.sha256)
        )
        #expect(
            file["type"] == "file" && file["mime_type"] == "image/jpeg" && file["media_type"] == "image"
                && file["exif"] == [:]
        )
        #expect(
            file["resource_id"]?.string?.hasPrefix("100000001:") == true && file["resource_id"]?.string?.count == 74
        )
        #expect(file["created"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00/) != nil)
        #expect(
            file["sizes"]?.array?.compactMap { $0.object?["name"]?.string }.joined(separator: " ")
                == "DEFAULT XXXS XXS XS S M L XL XXL XXXL C"
        )
        #expect(file["preview"]?.string?.hasSuffix("&size=S&crop=0") == true)
        let photo = try bench.resource("disk:/Фотокамера/IMG_02.JPG")
        #expect(
            photo["exif"]?.object?["date_time"] == photo["photoslice_time"]
                && photo["exif"]?.object?["gps_latitude"]?.double != nil
        )
        #expect(photo["custom_properties"] == nil && photo["public_key"] == nil && photo["_embedded"] == nil)
        #expect(try bench.resource("disk:/Архив/Архив 1.zip")["preview"] == nil)
    }

    @Test("a folder has a part of its list, folders first, with the total")
    func folder() throws {
        let folder = try bench.resource("disk:/Документы")
        let list = try #require(folder["_embedded"]?.object)
        #expect(
            list["total"] == 17 && list["limit"] == 20 && list["offset"] == 0 && list["sort"] == ""
                && list["path"] == "disk:/Документы"
        )
        let types = try #require(list["items"]?.array).compactMap { $0.object?["type"]?.string }
        #expect(types == ["dir", "dir"] + Array(repeating: "file", count: 15))
        #expect(folder["size"] == nil && folder["file"] == nil && folder["media_type"] == nil)
        #expect(try bench.resource("disk:/Пустая папка")["_embedded"]?.object?["items"] == [])
        #expect(try bench.resource("/")["path"] == "disk:/")
        #expect(try bench.resource("Документы/")["path"] == "disk:/Документы")
    }

    @Test(
        "pages of every order fit together and hold everything once",
        arguments: ["", "name", "-name", "path", "created", "-modified", "size", "-size"]
    )
    func paging(sort: String) throws {
        let whole = try bench.items(
            "/resources",
            ["path": "disk:/Имена", "limit": "100", "sort": sort],
            "path",
            embedded: true
        )
        // Byte for byte: Swift takes the two spellings of é for one.
        #expect(whole.count == 21 && Set(whole.compactMap { $0.string.map { Array($0.utf8) } }).count == 21)
        var pages: [JSONValue] = []
        for offset in stride(from: 0, through: 28, by: 7) {
            pages += try bench.items(
                "/resources",
                ["path": "disk:/Имена", "limit": "7", "offset": "\(offset)", "sort": sort],
                "path",
                embedded: true
            )
        }
        #expect(pages == whole)
    }

    @Test("orders are by their key, a minus reverses them")
    func orders() throws {
        func values(_ sort: String, _ member: String) throws -> [JSONValue] {
            try bench.items(
                "/resources",
                ["path": "disk:/Фотокамера", "limit": "60", "sort": sort],
                member,
                embedded: true
            )
        }
        let sizes = try values("size", "size").compactMap(\.double)
        #expect(sizes == sizes.sorted() && Set(sizes).count > 2)
        #expect(try values("-size", "size").compactMap(\.double) == sizes.reversed())
        let names = try values("name", "name").compactMap(\.string)
        #expect(names == names.sorted() && names.count == 60)
        #expect(try values("-name", "name").compactMap(\.string) == names.reversed())
        let times = try values("created", "created").compactMap(\.string)
        #expect(times == times.sorted() && Set(times).count == 60)
    }

    @Test("limit 0 gives the total alone, an offset past the end gives nothing")
    func edges() throws {
        let none = try bench.json(.get, "/resources", ["path": "disk:/", "limit": "0"])
        #expect(none["_embedded"]?.object?["items"] == [] && none["_embedded"]?.object?["total"] == 16)
        #expect(try bench.items("/resources", ["path": "disk:/", "offset": "1000"], "path", embedded: true).isEmpty)
        #expect(try bench.items("/resources/files", ["offset": "1000"], "path").isEmpty)
    }

    @Test("fields choose members at any depth, of links as well")
    func fields() throws {
        let nested = try bench.json(
            .get,
            "/resources",
            ["path": "disk:/Проекты", "fields": "name,_embedded.items.path,_embedded.total"]
        )
        #expect(
            JSONValue.object(nested) == [
                "name": "Проекты",
                "_embedded": [
                    "total": 2, "items": [["path": "disk:/Проекты/Проект А"], ["path": "disk:/Проекты/Проект Б"]],
                ],
            ]
        )
        // As one of the clients asks, and as it was answered.
        let narrowed = try bench.resource(
            "disk:/Проекты",
            fields: "type,_embedded,_embedded.offset,_embedded.limit,_embedded.total,_embedded.items"
        )
        #expect(narrowed["_embedded"]?.object?.members.map(\.name) == ["limit", "offset", "total", "items"])
        #expect(
            try bench.resource("disk:/Горы.jpg", fields: "type,_embedded.items")
                == JSONObject(members: [.init(name: "type", value: "file")])
        )
        #expect(
            try bench.json(.get, "/resources/download", ["path": "disk:/Горы.jpg", "fields": "href"]).members.map(
                \.name
            ) == ["href"]
        )
        #expect(
            try bench.json(.get, "/resources/download", ["path": "disk:/Горы.jpg", "fields": "name"]).members.isEmpty
        )
        #expect(
            try bench.items("/resources/last-uploaded", ["limit": "3", "fields": "items.type"], "type") == [
                "file", "file", "file",
            ]
        )
    }

    @Test("flat lists have no total: files by type, the last upload first")
    func flat() throws {
        let images = try bench.json(.get, "/resources/files", ["limit": "1000", "media_type": "image"])
        #expect(images.members.map(\.name) == ["items", "limit", "offset"])
        let types = try bench.items(
            "/resources/files",
            ["limit": "1000", "media_type": "image,spreadsheet"],
            "media_type"
        ).compactMap(\.string)
        #expect(Set(types) == ["image", "spreadsheet"] && types.count > images["items"]?.array?.count ?? 0)
        #expect(
            try bench.json(.get, "/resources/last-uploaded", ["limit": "2"]).members.map(\.name) == ["items", "limit"]
        )
        let times = try bench.items("/resources/last-uploaded", ["limit": "50"], "created").compactMap(\.string)
        #expect(times == times.sorted().reversed() && times.count == 50)
        try bench.control(.put, "files", #"{"path":"disk:/новый.txt","text":"1"}"#)
        #expect(try bench.items("/resources/last-uploaded", ["limit": "1"], "name") == ["новый.txt"])
    }

    @Test("a preview of the requested size, and only of known sizes")
    func previews() throws {
        let cropped = try bench.json(
            .get,
            "/resources",
            ["path": "disk:/Горы.jpg", "preview_size": "120x90", "preview_crop": "true"]
        )
        #expect(cropped["preview"]?.string?.hasSuffix("&size=120x90&crop=1") == true)
        for size in ["big", "0", "x", "1x2x3", "5000", "-1"] {
            #expect(
                bench.call(.get, "/resources", ["path": "disk:/", "preview_size": size]).failure
                    == "400 FieldValidationError"
            )
        }
    }

    @Test(
        "bad parameters are 400 and name the field",
        arguments: [
            ("/resources", "limit=x", "limit"), ("/resources", "limit=-1", "limit"),
            ("/resources", "offset=1.5", "offset"),
            ("/resources", "sort=color", "sort"),
            ("/resources/files", "media_type=picture", "media_type"), ("/resources/public", "type=link", "type"),
            ("/resources", "preview_crop=maybe", "preview_crop"),
        ]
    )
    func badParameters(path: String, parameter: String, field: String) throws {
        let response = bench.send(
            .get,
            "/yandex_disk\(path)?path=/&\(parameter)",
            headers: [.authorization: "OAuth sandbox-token"]
        )
        #expect(response.failure == "400 FieldValidationError")
        #expect(try response.object()["description"]?.string?.contains("\"\(field)\"") == true)
        #expect(try response.object()["message"]?.string?.contains("\"\(field)\"") == true)
    }

    @Test("paths that are none are 400, what is not there is 404, other methods are 405")
    func refused() {
        for path in ["a:b", "web:/a", "disk:/a/../b", "trash:/x", "disk:/" + String(repeating: "x", count: 256)] {
            #expect(bench.call(.get, "/resources", ["path": path]).failure == "400 DiskPathFormatError", "\(path)")
        }
        #expect(bench.call(.get, "/resources").failure == "400 FieldValidationError")
        #expect(bench.call(.get, "/resources", ["path": "disk:/горы.jpg"]).failure == "404 DiskNotFoundError")
        #expect(bench.call(.get, "/resources", ["path": "disk:/Горы.jpg/ниже"]).failure == "404 DiskNotFoundError")
        #expect(bench.call(.get, "/operations/0000").failure == "404 DiskOperationNotFoundError")
        #expect(bench.call(.get, "/nothing").failure == "404 NotFoundError")
        #expect(bench.call(.post, "/resources", ["path": "/"]).failure == "405 MethodNotAllowedError")
    }

    @Test("every name opens by its path, and its content is its own")
    func names() throws {
        for name in try bench.items("/resources", ["path": "disk:/Имена", "limit": "100"], "name", embedded: true)
            .compactMap(\.string) where name.contains(".")
        {
            #expect(
                String(decoding: try bench.content("disk:/Имена/\(name)"), as: UTF8.self)
                    == "Файл называется «\(name)».\n"
            )
        }
        #expect(bench.exists("disk:/Имена/папка с + и #/ещё & одна?/файл 100%.txt"))
        // Two spellings of one letter are two files.
        let accents = try ["é.txt", "e\u{301}.txt"].map { try bench.resource("disk:/Имена/\($0)")["resource_id"] }
        #expect(accents[0] != accents[1])
        // A plus in a query is a space.
        let plus = bench.send(
            .get,
            "/yandex_disk/resources?path=disk:/Имена/с+пробелами++в+имени.txt",
            headers: [.authorization: "OAuth sandbox-token"]
        )
        #expect(plus.status == .ok)
    }

    @Test("the same seed makes the same disk, byte for byte")
    func deterministic() {
        let query: KeyValuePairs = ["limit": "300", "preview_size": "M"]
        #expect(bench.call(.get, "/resources/files", query) == DiskBench().call(.get, "/resources/files", query))
        #expect(bench.call(.get, "/resources/files", query) != DiskBench(seed: 2).call(.get, "/resources/files", query))
    }

    @Test("below v1/disk it is the same API, with links that stay there")
    func versioned() throws {
        let link = try bench.json(.put, "/v1/disk/resources", ["path": "disk:/a b"])
        #expect(link["href"] == "http://127.0.0.1:4711/yandex_disk/v1/disk/resources?path=disk%3A%2Fa+b")
        #expect(bench.exists("disk:/a b"))
    }
}
