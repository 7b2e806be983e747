import Foundation
import HTTPTypes
import Upstream

extension CatalogueAPI {
    /// Returns the rows of a stored part of the list, in order; nil for a row without an id, so that positions count.
    static func rows(in body: Data, _ options: PartOptions) -> [ListedProduct?] {
        ((try? TolerantList<ProductRecord>(json: body, maximum: options.decodedRows))?.values ?? []).map { record in
            record.flatMap { record in record.id.map { ListedProduct(id: $0, isUsable: record.product != nil) } }
        }
    }

    /// Whether a response says that there is no such row. The API sends 400 with an object that names the path; its 404
    /// is about a route.
    static func isMissing(_ path: String, status: HTTPResponse.Status, body: [UInt8]) -> Bool {
        struct Report: Decodable {
            let name: String
            let path: String?
        }
        guard status == .badRequest, let report = try? JSONDecoder().decode(Report.self, from: Data(body)),
            report.name == "EntityNotFoundError"
        else { return false }
        return report.path.map { $0.hasSuffix(path) } ?? true
    }

    /// Decodes a list whose elements may be unusable.
    static func list<Record: Decodable & Sendable>(
        of type: Record.Type,
        in response: IncomingResponse,
        maximum: Int = ListLimit.elements
    ) throws(UpstreamError) -> TolerantList<Record> {
        do {
            return try TolerantList(json: Data(response.body), maximum: maximum)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .badResponse(status: response.status, reason: "not a list")
        } catch {
            throw .badResponse(status: response.status, reason: "not JSON")
        }
    }
}

/// A row of a list of products.
struct ListedProduct: Sendable, Equatable {
    let id: Int
    /// Whether the row has all fields that a product needs; if not, the product stored under its id is from an earlier
    /// response.
    let isUsable: Bool
}
