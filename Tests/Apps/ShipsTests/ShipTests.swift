import TestKit
import Testing

@testable import Ships

@Suite("Order of ships")
struct ShipTests {
    @Test(
        "SHIP-04 names that differ in case only sort as equal",
        arguments: [
            ("GO QUEST", "go quest"), ("Ähre", "äHRE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ΜΆΪΟΣ", "μάϊος"),
            ("\u{17F}hip", "Ship"), ("\u{212A}elly", "kelly"),
            ("µ", "Μ"),
            ("STRASSE \u{1E9E}", "strasse ß"), ("Жан", "жАН"), ("e\u{301}", "É"),
        ]
    )
    func folded(one: String, other: String) {
        #expect(Ship.sortKey(of: one) == Ship.sortKey(of: other))
    }

    @Test(
        "simple folding makes no letter two, and keeps the dotless i apart",
        arguments: [("ß", "ss"), ("ı", "i"), ("ﬁ", "fi"), ("é", "e")]
    )
    func apart(one: String, other: String) {
        #expect(Ship.sortKey(of: one) != Ship.sortKey(of: other))
    }

    @Test("folding again changes nothing", arguments: ["GO Quest", "İstanbul", "ẞ", "ᾈ", "ǅ", "Ꭰ", "", "🚢"])
    func idempotent(name: String) {
        let key = Ship.sortKey(of: name)
        #expect(Ship.sortKey(of: key) == key)
    }
}
