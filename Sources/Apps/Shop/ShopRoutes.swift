import HTTPTypes
public import Screens

/// The Shop app over HTTP: the table, and nothing else.
public struct ShopRoutes: Sendable {
    private let service: ShopService

    /// Routes to a service.
    public init(service: ShopService) {
        self.service = service
    }

    /// The table.
    public var routes: [Route] {
        [
            Route(.get, "/v1/shop/launch", "shop.launch", service.launch),
            Route(.get, "/v1/shop/search", "shop.search", service.search),
            Route(.get, "/v1/shop/history", "shop.history", service.history),
            Route(.delete, "/v1/shop/history", "shop.history", service.clearHistory),
            Route(.delete, "/v1/shop/history/{n}", "shop.history", service.removePastSearch),
            Route(.get, "/v1/shop/filters", "shop.filters", service.filters),
            Route(.put, "/v1/shop/filters", "shop.filters", service.setFilters),
            Route(.delete, "/v1/shop/filters", "shop.filters", service.resetFilters),
            Route(.get, "/v1/shop/categories", "shop.categories", service.categories),
            Route(.get, "/v1/shop/products/{id}", "shop.card", service.card),
            Route(.get, "/v1/shop/images/{id}/{n}", "shop.image", service.image),
            Route(.get, "/v1/shop/list", "shop.list", service.list),
            Route(.delete, "/v1/shop/list", "shop.list", service.clearList),
            Route(.post, "/v1/shop/list/items", "shop.list", service.addItem),
            Route(.patch, "/v1/shop/list/items/{product_id}", "shop.list", service.setQuantity),
            Route(.delete, "/v1/shop/list/items/{product_id}", "shop.list", service.removeItem),
            Route(.get, "/v1/shop/list/items/{product_id}/image", "shop.image", service.itemImage),
            Route(.put, "/v1/shop/list/order", "shop.list", service.order),
            Route(.get, "/v1/shop/list/share", "shop.share", service.share),
        ]
    }
}
