import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Shop

/// 46 searches and the 77 products that a person expects of them, in the sandbox's catalogue and a few products more.
@Suite("The graded list of the Shop's search")
struct GradedSearchTests {
    /// A search and the products that it should find.
    struct Query: Sendable {
        let text: String
        let expected: [Int]
        /// The ways that the screen says; empty for the words as they were typed.
        let used: [String]

        init(_ text: String, _ expected: [Int], _ used: String...) {
            (self.text, self.expected, self.used) = (text, expected, used)
        }
    }

    private static let more: [(id: Int, title: String, description: String)] = [
        (901, "Смартфон iPhone 15", "Экран 6,1 дюйма."), (902, "Nike Air Zoom", "Кроссовки для бега по асфальту."),
        (903, "Wi-Fi Router Mesh", "Three rooms, one network."), (904, "Café Press", "Coffee for four."),
        (905, "Ёлка искусственная 180 см", "Не осыпается."),
        (906, "Кеды Nike белые", "Почти кроссовки, на каждый день."),
        (907, "Чайник электрический", "Полтора литра."), (908, "Wireless Headphones Max", "Over the ears."),
        (909, "Laptop Sleeve 14", "Felt."), (910, "Кружка-термос", "Держит тепло."),
        (911, "Café au Lait Bowl", "Stoneware."), (912, "Ёлка живая", "В горшке."),
    ]

    /// The texts are of the classes that were tried in the Shop, each with the words named in what was found there.
    static let queries: [Query] = [
        // The text as it is: in the title, folded, in any order, in the description.
        Query("hoodie", [2]), Query("лампа", [19, 20]), Query("стол", [31]), Query("shirt", [1, 8]),
        Query("boot", [42, 47, 51]), Query("table", [27, 38]), Query("smart", [22, 25]), Query("usb", [17, 20]),
        Query("tee", [1]), Query("boot rain", [51]), Query("lamp bedside", [34]), Query("кроссовки nike", [902, 906]),
        Query("strasse", [49]), Query("etoile", [48]), Query("cafe", [904, 911]), Query("елка", [905, 912]),
        Query("t shirt", [1]), Query("iphone", [901]), Query("наушники", [18]),
        // Other forms.
        Query("лампу", [19, 20], "stem"), Query("лампы", [19, 20], "stem"), Query("наушников", [18], "stem"),
        Query("chairs", [33], "stem"), Query("tables", [27, 38], "stem"), Query("shoes", [49, 52], "stem"),
        Query("rain boots", [51], "stem"), Query("кроссовок", [43, 902, 906], "typo"), Query("scarves", [9], "typo"),
        // One error.
        Query("hoodei", [2], "typo"), Query("keybord", [16], "typo"), Query("лапма", [19, 20], "typo"),
        Query("кросовки", [43, 902, 906], "typo"), Query("headphons", [15, 908], "stem"),
        Query("чайнк", [57, 907], "typo"),
        Query("wifi", [903], "typo"), Query("tshirt", [1], "typo"),
        // The other alphabet.
        Query("айфон", [901], "transliteration"), Query("lampa", [19, 20, 34], "transliteration"),
        Query("krossovki", [43, 902, 906], "transliteration"), Query("kruzhka", [55, 910], "transliteration"),
        Query("futbolka", [4], "transliteration"), Query("софа", [28], "transliteration"),
        Query("лэптоп", [21, 909], "transliteration"),
        // The other keyboard layout.
        Query("kfvgf", [19, 20], "layout"), Query("xfqybr", [57, 907], "layout"),
        Query("ищще", [42, 47, 51], "layout"),
    ]

    @Test("ONE-08 at least 70 of the 77 expected products are found, online and offline, and the screen says by what")
    func graded() async throws {
        #expect(Self.queries.count == 46 && Self.queries.map(\.expected.count).reduce(0, +) == 77)
        try await ShopHarness.run { (app) async throws in
            for product in Self.more {
                let values = #"{"title":"\#(product.title)","description":"\#(product.description)","price":4}"#
                try app.control(.put, "products/\(product.id)", values)
            }
            // The first search is made without anything stored.
            for state in ["online", "offline"] {
                var found = 0
                for query in Self.queries {
                    let path = "/v1/shop/search?q=\(encoded(query.text))&limit=50"
                    // Offline each is a search that was not made before.
                    let response = try await app.get(state == "online" ? path : path + "&price_min=0")
                    let ids = response.ids
                    found += query.expected.filter(ids.contains).count
                    let missed = query.expected.filter { !ids.contains($0) }
                    if !missed.isEmpty { print("\(state), \(query.text): \(ids), without \(missed)") }
                    let ways = response["meta.search.used"]
                    #expect(
                        query.used.isEmpty ? ways == nil : ways == .array(query.used.map { .string($0) }),
                        "\(state), \(query.text): \(String(describing: ways))"
                    )
                }
                print("\(state): \(found) of 77")
                #expect(found >= 70)
                try await app.goOffline()
            }
        }
    }
}
