import Foundation

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

    /// What ships are sorted by: the name in Unicode simple case folding, so that `bob` stands between `Alma` and `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String {
        String(String.UnicodeScalarView(name.precomposedStringWithCanonicalMapping.unicodeScalars.flatMap { scalar in
            let folded = scalar.properties.lowercaseMapping.unicodeScalars
            return folded.count == 1 ? Array(folded) : [scalar]
        }))
    }
}
