import Foundation
import Storage

/// A ship as the app keeps it: what its screens show, cleaned of the upstream's quirks.
struct Ship: Sendable, Equatable {
    /// The API's id: the only key that survives a rename.
    var id: String
    var name: String
    var type: String?
    var roles: [String]
    var isActive: Bool
    var yearBuilt: Int?
    var homePort: String?
    var massKilograms: Double?
    /// Where the picture is, as the API says it; never given to a client.
    var imageURL: String?
    /// Whether the API's last answer listed it.
    var isListed = true

    /// The API's ids are 24 hexadecimal digits; anything that is safe in a path is taken, and nothing else is looked
    /// up: SQLite would take `id` for `id\0more`.
    static func isIdentity(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy {
                ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == 0x2D || $0 == 0x5F
            }
    }

    /// What ships are sorted by: the name in Unicode simple case folding, so that `bob` stands between `Alma` and
    /// `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String { name.caseFolded }
}
