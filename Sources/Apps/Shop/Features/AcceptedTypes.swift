import Foundation
import HTTPTypes

/// The media types that a client accepts, with their quality: `Accept` of RFC 9110 §12.5.1. Parameters other than `q`
/// are ignored.
struct AcceptedTypes: Sendable {
    private let ranges: [(type: [String], quality: Double)]

    init(_ headerFields: HTTPFields) {
        let members = headerFields[values: .accept].flatMap { $0.split(separator: ",") }
        ranges = members.map { member in
            let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return ((parts.first ?? "").split(separator: "/").map(String.init), quality)
        }
    }

    /// Whether a type has a higher quality than another.
    func prefers(_ type: [String], to other: [String]) -> Bool {
        quality(of: type) > quality(of: other)
    }

    /// The quality of the most specific range; without the field every type has quality 1.
    private func quality(of type: [String]) -> Double {
        guard !ranges.isEmpty else { return 1 }
        for candidate in [type, [type[0], "*"], ["*", "*"]] {
            if let range = ranges.first(where: { $0.type == candidate }) { return range.quality }
        }
        return 0
    }
}
