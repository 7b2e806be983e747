import Foundation
import GRDB
import HTTPTypes
import Screens
public import Upstream

/// The Platzi Fake Store API as far as the app uses it: products, categories, and pictures wherever products say they
/// are.
///
/// Anybody may write to it, and it is seeded anew each night. Source: PlatziLabs/fake-api-backend; documentation at
/// fakeapi.platzi.com.
public struct CatalogueAPI: Sendable {
    /// Path of the products below the base URL.
    static let productsPath = "/products"
    /// Path of the categories below the base URL.
    public static let categoriesPath = "/categories"

    let upstream: Upstream
    private let freshness: Duration
    private let categoryFreshness: Duration

    /// The API behind an upstream. `freshness` is how long products count as fresh, `categoryFreshness` how long
    /// categories do.
    public init(upstream: Upstream, freshness: Duration, categoryFreshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
        self.categoryFreshness = categoryFreshness
    }

    /// A part of the list of products. `save` is called with the usable ones in the transaction that stores the response.
    func products(
        _ query: CatalogueQuery,
        offset: Int,
        limit: Int,
        save: @escaping @Sendable ([Product], Database) throws -> Void
    ) -> Resource {
        resource(query.path(offset: offset, limit: limit), freshness: freshness) { (response) throws(UpstreamError) in
            let records = try Self.list(of: ProductRecord.self, in: response)
            guard records.isEmpty || records.contains(where: { $0.value?.id != nil }) else {
                throw .badResponse(status: response.status, reason: "a list without a single product")
            }
            let products = records.compactMap { $0.value?.product }
            return { db in try save(products, db) }
        }
    }

    /// One product.
    func product(_ id: Int, save: @escaping @Sendable ([Product], Database) throws -> Void) -> Resource {
        let path = "\(Self.productsPath)/\(id)"
        var resource = resource(path, freshness: freshness) { (response) throws(UpstreamError) in
            guard let product = (try? JSONDecoder().decode(ProductRecord.self, from: Data(response.body)))?.product,
                product.id == id
            else {
                throw .badResponse(status: response.status, reason: "not the product")
            }
            return { db in try save([product], db) }
        }
        resource.errors = ErrorForm { Self.isMissing(path, status: $0.status, body: $0.body) }
        return resource
    }

    /// All categories.
    func categories(save: @escaping @Sendable ([Product.Category], Database) throws -> Void) -> Resource {
        var resource = resource(Self.categoriesPath, freshness: categoryFreshness) { (response) throws(UpstreamError) in
            let records = try Self.list(of: CategoryRecord.self, in: response)
            var seen = Set<Int>()
            let categories = records.compactMap { $0.value?.category }.filter { seen.insert($0.id).inserted }
            guard !categories.isEmpty || records.isEmpty else {
                throw .badResponse(status: response.status, reason: "a list without a single category")
            }
            return { db in try save(categories, db) }
        }
        resource.isSourceOfRows = true
        return resource
    }

    /// A picture, wherever a product says it is; only what looks like one is admitted. Pictures do not change: they are
    /// fresh for ever.
    func picture(at url: String) -> Resource {
        Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            validate: { response throws(UpstreamError) in
                guard PictureType(of: response.body) != nil else {
                    throw .badResponse(status: response.status, reason: "not a picture")
                }
                return { _ in }
            }
        )
    }

    /// The rows of a part of the list as it was answered, in order; nil stands for one without an id, so that positions
    /// count.
    static func rows(in body: Data) -> [ListedProduct?] {
        ((try? JSONDecoder().decode([Tolerant<ProductRecord>].self, from: body)) ?? []).map { record in
            record.value.flatMap { record in record.id.map { ListedProduct(id: $0, isUsable: record.product != nil) } }
        }
    }

    /// Whether a response says that there is no such row. The API answers 400 with an object that names the path; a 404
    /// of it is about a route.
    private static func isMissing(_ path: String, status: HTTPResponse.Status, body: [UInt8]) -> Bool {
        struct Report: Decodable {
            let name: String
            let path: String?
        }
        guard status == .badRequest, let report = try? JSONDecoder().decode(Report.self, from: Data(body)),
            report.name == "EntityNotFoundError"
        else { return false }
        return report.path.map { $0.hasSuffix(path) } ?? true
    }

    private func resource(
        _ path: String,
        freshness: Duration,
        validate: @escaping @Sendable (IncomingResponse) throws(UpstreamError) -> Resource.PersistRows
    ) -> Resource {
        Resource(
            url: upstream.configuration.url(of: path),
            headerFields: [.accept: "application/json"],
            freshness: freshness,
            validate: validate
        )
    }

    private static func list<Record: Decodable & Sendable>(of type: Record.Type, in response: IncomingResponse)
        throws(UpstreamError) -> [Tolerant<Record>]
    {
        do {
            return try JSONDecoder().decode([Tolerant<Record>].self, from: Data(response.body))
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .badResponse(status: response.status, reason: "not a list")
        } catch {
            throw .badResponse(status: response.status, reason: "not JSON")
        }
    }
}

/// A row of a list of products, told by its id.
struct ListedProduct: Sendable, Equatable {
    let id: Int
    /// Whether the row has all that a product needs; else what is stored under its id is of an earlier response.
    let isUsable: Bool
}
