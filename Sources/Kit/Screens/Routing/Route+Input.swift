extension Route {
    /// Returns the route with the query parameters that it takes.
    public func query(_ parameters: RouteInput.Parameter...) -> Route {
        var route = self
        route.input.parameters = parameters.flatMap(\.names)
        return route
    }

    /// Returns the route with the members of the JSON body that it takes.
    public func body(_ members: RouteInput.Member...) -> Route {
        var route = self
        route.input.members = members
        return route
    }

    /// Returns the route with the parts of the form that it takes.
    public func form(_ fields: String...) -> Route {
        var route = self
        route.input.formFields = fields
        return route
    }
}
