import Foundation
import GRDB
import HTTPTypes
import Screens
public import Upstream

/// The Platzi Fake Store API as far as the app uses it: products, categories, and pictures wherever products say they are.
///
/// Anybody may write to it, and it is seeded anew each night. Source: PlatziLabs/fake-api-backend; documentation at fakeapi.platzi.com.
public struct CatalogueAPI: Sendable {
    /// Path of the products below the base URL.
    static let productsPath = "/products"
    /// Path of the categories below the base URL.
    public static let categoriesPath = "/categories"

    let upstream: Upstream
    private let freshness: Duration
    private let categoryFreshness: Duration

    /// The API behind an upstream. `freshness` is how long products count as fresh, `categoryFreshness` how long categories do.
    public init(upstream: Upstream, freshness: Duration, categoryFreshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
        self.categoryFreshness = categoryFreshness
    }

    /// A part of the list of products. `save` is called with the usable ones in the transaction that stores the answer.
    func products(_ query: CatalogueQuery, offset: Int, limit: Int, save: @escaping @Sendable ([Product], Database) throws -> Void) -> Resource {
        resource(query.path(offset: offset, limit: limit), freshness: freshness) { (answer) throws(UpstreamError) in
            let records = try Self.list(of: ProductRecord.self, in: answer)
            let products = records.compactMap { $0.value?.product }
            return { db in try save(products, db) }
        }
    }

    /// One product.
    func product(_ id: Int, save: @escaping @Sendable ([Product], Database) throws -> Void) -> Resource {
        resource("\(Self.productsPath)/\(id)", freshness: freshness) { (answer) throws(UpstreamError) in
            guard let product = (try? JSONDecoder().decode(ProductRecord.self, from: Data(answer.body)))?.product, product.id == id else {
                throw .badAnswer(status: answer.status, reason: "not the product")
            }
            return { db in try save([product], db) }
        }
    }

    /// All categories.
    func categories(save: @escaping @Sendable ([Product.Category], Database) throws -> Void) -> Resource {
        var resource = resource(Self.categoriesPath, freshness: categoryFreshness) { (answer) throws(UpstreamError) in
            let records = try Self.list(of: CategoryRecord.self, in: answer)
            var seen = Set<Int>()
            let categories = records.compactMap { $0.value?.category }.filter { seen.insert($0.id).inserted }
            return { db in try save(categories, db) }
        }
        resource.isSourceOfRows = true
        return resource
    }

    /// A picture, wherever a product says it is; only what looks like one is admitted. Pictures do not change: they are fresh for ever.
    func picture(at url: String) -> Resource {
        Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            admit: { answer throws(UpstreamError) in
                guard PictureType(of: answer.body) != nil else { throw .badAnswer(status: answer.status, reason: "not a picture") }
                return { _ in }
            }
        )
    }

    /// The ids of a part of the list as it was answered, in order; nil stands for a row that has none, so that positions count.
    static func ids(in body: Data) -> [Int?] {
        struct Identity: Decodable, Sendable { let id: Int }
        return ((try? JSONDecoder().decode([Tolerant<Identity>].self, from: body)) ?? []).map(\.value?.id)
    }

    /// Whether a 400 means that there is no such row: the API has no 404 for that.
    static func isMissing(status: HTTPResponse.Status, body: [UInt8]) -> Bool {
        struct Report: Decodable { let name: String }
        return status == .notFound || (status == .badRequest && (try? JSONDecoder().decode(Report.self, from: Data(body)))?.name == "EntityNotFoundError")
    }

    private func resource(
        _ path: String,
        freshness: Duration,
        admit: @escaping @Sendable (IncomingAnswer) throws(UpstreamError) -> Resource.Admission
    ) -> Resource {
        Resource(url: upstream.configuration.url(of: path), headerFields: [.accept: "application/json"], freshness: freshness, admit: admit)
    }

    private static func list<Record: Decodable & Sendable>(of type: Record.Type, in answer: IncomingAnswer) throws(UpstreamError) -> [Tolerant<Record>] {
        do {
            return try JSONDecoder().decode([Tolerant<Record>].self, from: Data(answer.body))
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .badAnswer(status: answer.status, reason: "not a list")
        } catch {
            throw .badAnswer(status: answer.status, reason: "not JSON")
        }
    }
}
