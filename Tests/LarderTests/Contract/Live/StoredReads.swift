import Foundation
import TestKit
import Testing

/// A request to each screen, of which everything is stored that it shows.
struct StoredReads: Sendable {
    /// A request, and the operation of openapi.yaml that it is for.
    struct Read: Sendable {
        let operation: String
        let target: String
        let headers: [String: String]
    }

    let larder: InProcessLarder
    private let scenario: ContractScenario

    init(_ larder: InProcessLarder) {
        self.larder = larder
        scenario = ContractScenario(larder: larder, transcript: RecordedExchanges())
    }

    /// Fills the store, and returns the requests, each of which was responded to once.
    func all() async throws -> [Read] {
        let reads = try await system() + ships() + disk() + shop() + documents() + notes()
        for read in reads {
            let response = try await larder.send("GET", read.target, read.headers)
            try #require(response.status == 200, "\(read.target): \(response.status) \(response.text.prefix(200))")
        }
        return reads
    }

    private func reads(_ paths: [String], _ headers: [String: String] = [:]) -> [Read] {
        paths.map { Read(operation: "GET \($0)", target: ContractScenario.filled($0), headers: headers) }
    }

    private func read(_ path: String, of id: String = "", query: String = "", _ headers: [String: String] = [:]) -> Read
    {
        let target = path.replacing("{id}", with: id).replacing("{item_id}", with: id)
        return Read(operation: "GET \(path)", target: target + query, headers: headers)
    }

    private func system() async throws -> [Read] {
        let mount = Read(
            operation: "GET /v1/upstreams/{name}/{path}",
            target: "/v1/upstreams/spacex/v4/ships",
            headers: [:]
        )
        return reads(["/v1", "/v1/status", "/v1/usage", "/v1/devices", "/health/live", "/health/ready"]) + [mount]
    }

    private func ships() async throws -> [Read] {
        let member = try await scenario.session()
        try await scenario.ask("DELETE /v1/ships/{id}", member)
        try await scenario.ask("POST /v1/ships/restore", member)
        return reads(
            ["/v1/ships/launch", "/v1/ships/session", "/v1/ships", "/v1/ships/{id}", "/v1/ships/{id}/image"],
            member
        )
    }

    private func disk() async throws -> [Read] {
        for number in 1...7 {
            let file = #"{"path":"disk:/contract/\#(number).txt","text":"text of a"}"#
            try await larder.control("PUT", "/yandex_disk/files", file)
        }
        let member = try await scenario.diskSession()
        let pictures = try await scenario.ask("GET /v1/disk/recent", query: "?media_type=image", member)
        let picture = try #require(try pictures.json.at(pointer: "/data/items/0/preview_url")?.string)
        let pdf = Data(MadeFile.pdf(pages: 1).utf8).base64EncodedString()
        try await larder.control(
            "PUT",
            "/yandex_disk/files",
            #"{"path":"disk:/contract/document.pdf","base64":"\#(pdf)"}"#
        )
        let file = "?path=/contract/1.txt"
        let download = try await scenario.ask("POST /v1/disk/downloads", member, body: #"{"path":"/contract/2.txt"}"#)
        let deletion = try await scenario.ask("DELETE /v1/disk/file", query: "?path=/contract/3.txt", member)
        #expect([200, 202].contains(deletion.status))
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":["copy"],"polls":1,"status":"success"}"#)
        let copy = try await scenario.ask(
            "POST /v1/disk/files/copy",
            member,
            body: #"{"from":"/contract/1.txt","to":"/contract/9.txt"}"#
        )
        let names = [
            "launch", "onboarding", "session", "profile", "profile/chart.svg", "recent", "files", "published", "trash",
            "offline", "outbox",
        ]
        let left = try await scenario.leftFolder(member)
        return reads(names.map { "/v1/disk/\($0)" }, member) + [
            read("/v1/disk/onboarding/{id}/image", of: "documents", member),
            read("/v1/disk/search", query: "?q=txt", member),
            read("/v1/disk/file", query: file, member),
            read("/v1/disk/file/content", query: file, member),
            read("/v1/disk/file/preview", query: String(picture.drop { $0 != "?" }), member),
            read("/v1/disk/file/page", query: "?path=/contract/document.pdf&page=1", member),
            read("/v1/disk/downloads/{id}", of: try id(download), member),
            read("/v1/disk/operations/{id}", of: try id(copy), member),
            read("/v1/disk/outbox/{id}", of: left, member),
        ]
    }

    private func shop() async throws -> [Read] {
        let profile = ["Larder-Profile": "costs"]
        for number in 1...5 {
            try await scenario.ask("POST /v1/shop/list/items", profile, body: #"{"product_id":\#(number)}"#)
        }
        try await scenario.ask("GET /v1/shop/search", query: "?q=mug", profile)
        try await scenario.ask("POST /v1/shop/favourites", profile, body: #"{"product_id":1}"#)
        return reads(
            [
                "/v1/shop/launch", "/v1/shop/search", "/v1/shop/history", "/v1/shop/filters", "/v1/shop/categories",
                "/v1/shop/products/{id}", "/v1/shop/products/{id}/share", "/v1/shop/images/{id}/{n}", "/v1/shop/list",
                "/v1/shop/list/share", "/v1/shop/favourites", "/v1/shop/categories/{id}/image",
                "/v1/shop/products/{id}/related",
            ],
            profile
        ) + [read("/v1/shop/suggestions", query: "?q=la", profile)]
            + reads(["/v1/shop/list/items/{item_id}/image", "/v1/shop/list/items/{item_id}/share"], profile)
    }

    private func documents() async throws -> [Read] {
        let (document, _) = try await scenario.savedPair()
        let one = "/v1/pdf/documents/{id}"
        let (deleted, _) = try await scenario.savedPair()
        try await scenario.askPDF("DELETE \(one)", of: deleted)
        return reads(["/v1/pdf/launch", "/v1/pdf/welcome", "/v1/pdf/documents", "/v1/pdf/drafts", "/v1/pdf/trash"])
            + [one, "\(one)/file", "\(one)/thumbnail"].map { read($0, of: document.id) } + [
                Read(
                    operation: "GET \(one)/pages/{page_id}/thumbnail",
                    target: "/v1/pdf/documents/\(document.id)/pages/\(document.page)/thumbnail",
                    headers: [:]
                )
            ]
    }

    private func notes() async throws -> [Read] {
        let member = try await scenario.notesSession("costs")
        var created: ReceivedResponse?
        for number in 1...5 {
            let body = #"{"body":"Dog \#(number)","location":{"lat":37.79,"lon":-122.42,"name":"Laguna St"}}"#
            created = try await scenario.ask("POST /v1/notes", member, body: body)
        }
        let note = try id(try #require(created))
        let other = try await scenario.ask("POST /v1/notes", member, body: #"{"body":"Cat"}"#)
        try await scenario.ask("DELETE /v1/notes/{id}", ship: try id(other), member)
        let screens = ["launch", "session", "map", "trash"].map { "/v1/notes/\($0)" }
        return reads(["/v1/notes"] + screens, member) + [
            read("/v1/notes/places", query: "?q=lag", member),
            read("/v1/notes/cities", query: "?bbox=0,45,5,50", member),
            read("/v1/notes/people", member),
            read("/v1/notes/people/{id}", of: "1", member),
            read("/v1/notes/people/{id}/avatar", of: "1", member),
            read("/v1/notes/{id}", of: note, member),
        ]
    }

    private func id(_ response: ReceivedResponse) throws -> String {
        try #require(try response.json.at(pointer: "/data/id")?.string, "\(response.status) \(response.text)")
    }
}
