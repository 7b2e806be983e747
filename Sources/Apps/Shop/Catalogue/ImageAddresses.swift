import Foundation
import HTTP
import Upstream

/// The URLs of a product's pictures. The API stores them in one column and splits it at commas, so the text of a JSON
/// array arrives in pieces such as `["https://…"`.
enum ImageAddresses {
    /// Returns the absolute http(s) URLs in their order, without duplicates.
    static func clean(_ received: [String]) -> [String] {
        var seen = Set<String>()
        return pieces(of: received).compactMap(address).filter { seen.insert($0).inserted }.prefix(
            Product.maximumImages
        )
        .map { $0 }
    }

    private static func pieces(of received: [String]) -> [String] {
        let joined = received.joined(separator: ",")
        if joined.unicodeScalars.first(where: { !$0.properties.isWhitespace }) == "[",
            let whole = try? JSONDecoder().decode(
                TolerantList<String>.self,
                from: Data(joined.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
            )
        {
            return whole.values.compactMap(\.self)
        }
        return received
    }

    private static func isPadding(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "[", "]", "\"", "'", " ", "\t", "\r", "\n": true
        default: false
        }
    }

    private static func address(_ piece: String) -> String? {
        let inner = piece.unicodeScalars.drop(while: isPadding)
        let text = inner.lastIndex { !isPadding($0) }.map { String(inner[...$0]) } ?? ""
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        // Letters beyond ASCII and spaces are encoded, as browsers do.
        return (try? HTTPURL(text)).flatMap { $0.hasUser ? nil : $0.origin + $0.requestTarget }
    }
}
