import Foundation
import HTTPSemantics
import HTTPTypes
public import Logging
public import Media
public import Screens
import Storage
public import Upstream

/// What the Shop app does: the rules of its screens (design/screens.md 3).
public struct ShopService: Sendable {
    /// What the app can be told.
    public struct Options: Sendable {
        /// Categories whose products stand alone in a row: ids, or names whatever their case.
        public var wideCategories: [String]

        /// Creates options.
        public init(wideCategories: [String] = ["1", "2"]) {
            self.wideCategories = wideCategories
        }

        func layout(of category: Product.Category?) -> Layout {
            guard let category else { return .tile }
            let name = category.name.caseFolded
            return wideCategories.contains { Int($0) == category.id || $0.caseFolded == name } ? .wide : .tile
        }
    }

    let api: CatalogueAPI
    let store: ShopStore
    let events: EventStream
    let pictures: PictureScaler
    let options: Options
    let clock: WallClock

    /// Puts the app together.
    public init(
        api: CatalogueAPI,
        store: ShopStore,
        events: EventStream,
        pictures: PictureScaler,
        options: Options,
        clock: WallClock
    ) {
        self.api = api
        self.store = store
        self.events = events
        self.pictures = pictures
        self.options = options
        self.clock = clock
    }

    /// `GET /v1/shop/launch`: every cold start shows the search.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        return try local(LaunchScreen(), "shop.launch", request, changeToken: .unlimited)
    }

    /// What is due when the upstream is back: the categories and the first page. If it fails again, the upstream's
    /// health knows, and the next recovery tries again.
    public func refreshAfterRecovery(logger: Logger) async {
        do {
            _ = try await readCategories(.useCache)
            _ = try await find(SearchQuery(), PageRequest(limit: Self.defaultLimit), .useCache)
        } catch {
            logger.warning("the catalogue could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
    }

    /// The response of a screen without an upstream.
    func local(
        _ content: some Encodable & Sendable,
        _ screen: String,
        _ request: ScreenRequest,
        state: ScreenState = .content,
        status: HTTPResponse.Status = .ok,
        revision: Int? = nil,
        self own: String? = nil,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(screen: screen, state: state, provenance: .local, revision: revision)
        return try ScreenResponse.screen(
            Envelope(data: content, meta: meta, links: Links(self: own ?? request.selfLink)),
            status: status,
            provenance: .local,
            now: clock.now(),
            headerFields: headerFields,
            changeToken: changeToken
        ).byProfile()
    }

    /// A failure of the upstream as the app's alert tells it.
    func failure(_ error: UpstreamError) -> Problem {
        var problem = UpstreamFailure(error, of: api.upstream).problem
        switch error {
        case .unreachable, .failing, .badResponse: problem.dialog = .shopFailure
        case .rejected, .forbiddenTarget, .notStored: break
        }
        return problem
    }

    /// A product's id in the path. What is no such number belongs to no product.
    func productID(_ name: String, in request: ScreenRequest) throws -> Int {
        let text = try request.parameter(name)
        guard let id = Int(text), id > 0, text.isDigits else {
            throw Self.noProduct
        }
        return id
    }

    static let noProduct = Problem.notFound("There is no such product.")
}
