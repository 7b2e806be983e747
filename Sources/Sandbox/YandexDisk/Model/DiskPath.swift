/// A path of the API: an area and the names below its root. Names are compared byte for byte; whether the service
/// normalizes Unicode is not known.
struct DiskPath: Sendable, Equatable, Codable, CustomStringConvertible {
    enum Area: String, Sendable, Codable {
        case disk
        case trash
    }

    /// Documented limits, in characters.
    static let longestName = 255
    static let longestPath = 32_760

    var area: Area
    var names: [String]

    init(area: Area, names: [String]) {
        self.area = area
        self.names = names
    }

    /// Reads `disk:/…`, `trash:/…` or a path without a scheme, which is one of `area` and then must have no colon.
    init(_ text: String, in area: Area = .disk) throws(DiskFailure) {
        var rest = text[...]
        self.area = area
        if let scheme = [Area.disk, .trash].first(where: { text.hasPrefix("\($0.rawValue):/") }) {
            self.area = scheme
            rest = rest.dropFirst(scheme.rawValue.count + 1)
        } else if rest.contains(":") {
            throw .pathFormat
        }
        names = rest.split(separator: "/").map(String.init)
        guard text.unicodeScalars.count <= Self.longestPath, self.area == area else { throw .pathFormat }
        for name in names
        where name == "." || name == ".." || name.unicodeScalars.count > Self.longestName || name.utf8.contains(0) {
            throw .pathFormat
        }
    }

    var name: String? { names.last }

    var parent: DiskPath { DiskPath(area: area, names: Array(names.dropLast())) }

    func appending(_ name: String) -> DiskPath { DiskPath(area: area, names: names + [name]) }

    var description: String { "\(area.rawValue):/" + names.joined(separator: "/") }
}

/// A name that is equal only to the same bytes: Swift's strings are equal as soon as they read alike.
struct NameKey: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }
}
