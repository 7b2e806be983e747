import TestKit
import Testing

/// A front end needs no formatting code: the text of a value is sent beside it (docs/contract.md, "Names and formats").
@Suite("Values as texts")
struct TextMemberTests {
    /// Values that are formatted wherever an app shows them.
    private static let formatted: Set<String> = [
        "size", "price", "price_min", "price_max", "line_total", "progress", "status", "state", "difference", "failure",
        "budget", "bytes", "total", "used", "available", "trash", "page_count", "year_built", "weight_kg", "home_port",
        "roles", "gender", "email", "draft_until",
    ]
    /// Times that no screen shows.
    private static let unseen: Set<String> = [
        "DiskSessionData", "DiskSessionOpenedData", "NotesSessionData", "NotesSessionOpenedData", "ShipsSessionData",
        "ShipsSessionOpenedData", "ShopHistoryRow.searched_at", "DiskOfflineRow.marked_at", "NoteMapData.total",
        "ShopListRow.available", "ShopFavouriteRow.available", "DiskDocument.available", "DiskAuthorizationData.state",
        "NotesFileRecord",
        "NotesFileProperties",
    ]
    private static let apps = ["Disk", "Shop", "PDF", "Note", "Ship", "Person"]

    @Test("HARN-30 Times, sizes, prices, shares and states that people see have a text beside them")
    func texts() throws {
        let document = try OpenAPIDocument.load()
        let schemas = document.root.at(pointer: "/components/schemas")?.object ?? [:]
        var found = 0
        for (schema, value) in schemas
        where Self.apps.contains(where: schema.hasPrefix) && !schema.contains("Request")
            && !Self.unseen.contains(schema)
        {
            let names = Set((value["properties"]?.object ?? [:]).keys)
            for name in names where name.hasSuffix("_at") || Self.formatted.contains(name) {
                guard !Self.unseen.contains("\(schema).\(name)") else { continue }
                found += 1
                let text = (name.hasSuffix("_at") ? String(name.dropLast(3)) : name) + "_text"
                #expect(names.contains(text), "\(schema).\(name)")
            }
        }
        #expect(found > 40)
    }
}
