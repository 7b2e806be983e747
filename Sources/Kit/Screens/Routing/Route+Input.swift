extension [Route] {
    /// Returns the routes of an app with profiles: each of them takes `profile`, and links of its responses name it.
    package func withProfiles(of app: String) -> [Route] {
        map {
            var route = $0
            route.input.parameters.append("profile")
            route.profileApp = app
            return route
        }
    }
}

extension Route {
    /// Returns the route with the query parameters that it takes.
    package func query(_ parameters: RouteInput.Parameter...) -> Route {
        var route = self
        route.input.parameters = parameters.flatMap(\.names)
        return route
    }

    /// Returns the route as one that takes any query, for the page that it responds with to read.
    package func anyQuery() -> Route {
        var route = self
        route.input.takesAnyParameter = true
        return route
    }

    /// Returns the route with the members of the JSON body that it takes.
    package func body(_ members: RouteInput.Member...) -> Route {
        var route = self
        route.input.members = members
        return route
    }

    /// Returns the route with the parts of the form that it takes.
    package func form(_ fields: String...) -> Route {
        var route = self
        route.input.formFields = fields
        return route
    }
}
