import Foundation

/// Whether a client takes gzip (RFC 9110 §12.5.3): listed, or covered by `*`, with a weight above zero.
public enum AcceptEncoding {
    /// Whether gzip is accepted by the values of `Accept-Encoding`.
    public static func allowsGzip(_ values: [String]) -> Bool {
        var weights: [String: Double] = [:]
        for member in values.joined(separator: ",").split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            guard let coding = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            weights[coding] = weight
        }
        return (weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0) > 0
    }
}
